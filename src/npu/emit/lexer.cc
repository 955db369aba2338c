#include "npu/emit/lexer.h"

#include <charconv>

namespace sotto::npu {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_name(char c) {
  return is_letter(c) || is_digit(c);
}
bool is_word(char c) {
  return is_name(c) || c == '.';
}

}  // namespace

LexToken Lexer::take() {
  const LexToken taken = token_;
  advance();
  return taken;
}

void Lexer::skip_space() {
  while (at_ < text_.size()) {
    if (text_[at_] == '\n') ++line_;
    if (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\n') {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      while (at_ < text_.size() && text_[at_] != '\n')
        ++at_;
    } else {
      return;
    }
  }
}

template <typename Predicate>
std::string_view Lexer::take_while(Predicate predicate) {
  const size_t begin = at_;
  while (at_ < text_.size() && predicate(text_[at_]))
    ++at_;
  return text_.substr(begin, at_ - begin);
}

void Lexer::advance() {
  skip_space();
  token_ = {TokenKind::kEnd, {}, 0, line_};
  if (at_ >= text_.size() || !status_.ok()) return;
  const char c = text_[at_];
  const auto fail = [&](const std::string& what) {
    status_ = corrupt("line " + std::to_string(line_) + ": " + what);
    token_.kind = TokenKind::kEnd;
  };
  if (c == '%' || c == '@') {
    ++at_;
    token_.kind = c == '%' ? TokenKind::kValue : TokenKind::kSymbol;
    token_.text = take_while(is_name);
    if (token_.text.empty()) fail("a name must follow " + std::string(1, c));
  } else if (is_digit(c) || (c == '-' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
    const size_t begin = at_++;
    take_while(is_digit);
    token_.kind = TokenKind::kNumber;
    token_.text = text_.substr(begin, at_ - begin);
    const auto result =
        std::from_chars(token_.text.data(), token_.text.data() + token_.text.size(), token_.number);
    if (result.ec != std::errc()) fail("number out of range: " + std::string(token_.text));
  } else if (is_letter(c)) {
    token_.kind = TokenKind::kWord;
    token_.text = take_while(is_word);
    if (token_.text == "memref" && at_ < text_.size() && text_[at_] == '<') {
      ++at_;
      token_.kind = TokenKind::kMemref;
      token_.text = take_while([](char x) { return x != '>' && x != '\n'; });
      if (at_ >= text_.size() || text_[at_] != '>') return fail("memref without a closing >");
      ++at_;
    }
  } else if (c == '"') {
    ++at_;
    token_.kind = TokenKind::kString;
    token_.text = take_while([](char x) { return x != '"' && x != '\n'; });
    if (at_ >= text_.size() || text_[at_] != '"') return fail("string without a closing quote");
    ++at_;
  } else if (text_.substr(at_, 2) == "->") {
    token_.kind = TokenKind::kPunct;
    token_.text = text_.substr(at_, 2);
    at_ += 2;
  } else if (std::string_view("(){}[]<>:,=!?").find(c) != std::string_view::npos) {
    token_.kind = TokenKind::kPunct;
    token_.text = text_.substr(at_++, 1);
  } else {
    fail("unexpected character code " + std::to_string(static_cast<unsigned char>(c)));
  }
}

}  // namespace sotto::npu
