// Grammar helpers: punctuation, names, numbers, lists, types, attributes.
#include <charconv>
#include <limits>

#include "npu/emit/parser.h"

namespace sotto::npu {

Status Parser::error(const std::string& what) const {
  if (!lexer_.status().ok()) return lexer_.status();
  const LexToken& token = lexer_.peek();
  const std::string found =
      token.kind == TokenKind::kEnd ? "the end" : "'" + std::string(token.text) + "'";
  return corrupt("line " + std::to_string(token.line) + ": " + what + ", found " + found);
}

bool Parser::at(std::string_view text) const {
  const LexToken& token = lexer_.peek();
  return (token.kind == TokenKind::kPunct || token.kind == TokenKind::kWord) && token.text == text;
}

bool Parser::accept(std::string_view text) {
  if (!at(text)) return false;
  lexer_.take();
  return true;
}

Status Parser::expect(std::string_view text) {
  return accept(text) ? Status() : error("expected '" + std::string(text) + "'");
}

Result<std::string> Parser::name(TokenKind kind, std::string_view what) {
  if (lexer_.peek().kind != kind) return error("expected " + std::string(what));
  return std::string(lexer_.take().text);
}

Result<int64_t> Parser::number() {
  if (lexer_.peek().kind != TokenKind::kNumber) return error("expected a number");
  return lexer_.take().number;
}

Result<std::vector<int64_t>> Parser::number_list() {
  std::vector<int64_t> out;
  SOTTO_RETURN_IF_ERROR(expect("["));
  while (!accept("]")) {
    if (!out.empty()) SOTTO_RETURN_IF_ERROR(expect(","));
    SOTTO_ASSIGN_OR_RETURN(const int64_t value, number());
    out.push_back(value);
  }
  return out;
}

Result<std::vector<std::string>> Parser::symbol_list() {
  std::vector<std::string> out;
  SOTTO_RETURN_IF_ERROR(expect("["));
  while (!accept("]")) {
    if (!out.empty()) SOTTO_RETURN_IF_ERROR(expect(","));
    SOTTO_ASSIGN_OR_RETURN(std::string symbol, name(TokenKind::kSymbol, "an @symbol"));
    out.push_back(std::move(symbol));
  }
  return out;
}

Result<std::vector<Dim>> Parser::transform() {
  std::vector<Dim> out;
  SOTTO_RETURN_IF_ERROR(expect("["));
  while (!accept("]")) {
    if (!out.empty()) SOTTO_RETURN_IF_ERROR(expect(","));
    SOTTO_RETURN_IF_ERROR(expect("<"));
    SOTTO_RETURN_IF_ERROR(expect("size"));
    SOTTO_RETURN_IF_ERROR(expect("="));
    SOTTO_ASSIGN_OR_RETURN(const int64_t size, number());
    SOTTO_RETURN_IF_ERROR(expect(","));
    SOTTO_RETURN_IF_ERROR(expect("stride"));
    SOTTO_RETURN_IF_ERROR(expect("="));
    SOTTO_ASSIGN_OR_RETURN(const int64_t stride, number());
    SOTTO_RETURN_IF_ERROR(expect(">"));
    out.push_back({size, stride});
  }
  return out;
}

Result<ElementType> element_type(std::string_view text) {
  for (const ElementType type : {ElementType::kBf16, ElementType::kF32, ElementType::kI32,
                                 ElementType::kI16, ElementType::kI8}) {
    if (element_name(type) == text) return type;
  }
  return corrupt("unknown element type '" + std::string(text) + "'");
}

namespace {

// "64x32xbf16"
Result<ObjectType> object_type(std::string_view text) {
  ObjectType out;
  int64_t total = 1;
  for (size_t cut = text.find('x'); cut != std::string_view::npos; cut = text.find('x')) {
    int64_t extent = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + cut, extent);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + cut || extent < 1) {
      return corrupt("bad memref extent");
    }
    if (extent > std::numeric_limits<int64_t>::max() / 64 / total)
      return corrupt("memref is too large");
    total *= extent;
    out.shape.push_back(extent);
    text.remove_prefix(cut + 1);
  }
  SOTTO_ASSIGN_OR_RETURN(out.element, element_type(text));
  if (out.shape.empty()) return corrupt("memref without extents");
  return out;
}

}  // namespace

Result<ObjectType> Parser::memref() {
  if (lexer_.peek().kind != TokenKind::kMemref) return error("expected a memref type");
  const int line = lexer_.peek().line;
  Result<ObjectType> type = object_type(lexer_.take().text);
  if (!type.ok()) return type.status().with_context("line " + std::to_string(line));
  return type;
}

Result<Attributes> Parser::attributes() {
  Attributes out;
  if (!accept("{")) return out;
  while (!accept("}")) {
    if (!out.empty()) SOTTO_RETURN_IF_ERROR(expect(","));
    SOTTO_ASSIGN_OR_RETURN(const std::string key, name(TokenKind::kWord, "an attribute name"));
    SOTTO_RETURN_IF_ERROR(expect("="));
    const LexToken value = lexer_.take();
    if (value.kind != TokenKind::kNumber && value.kind != TokenKind::kString &&
        value.kind != TokenKind::kWord) {
      return error("expected a value for attribute " + key);
    }
    if (accept(":")) SOTTO_RETURN_IF_ERROR(name(TokenKind::kWord, "a type").status());
    out[key] = std::string(value.text);
  }
  return out;
}

Result<int64_t> attribute_number(const Attributes& attributes, std::string_view key,
                                 int64_t otherwise) {
  const auto it = attributes.find(key);
  if (it == attributes.end()) return otherwise;
  int64_t value = 0;
  const char* end = it->second.data() + it->second.size();
  const auto parsed = std::from_chars(it->second.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end)
    return corrupt("attribute " + std::string(key) + " is no number");
  return value;
}

// Types are redundant in this subset: every one is known from the object fifo, buffer or kernel
// that a name refers to.
Status Parser::skip_type() {
  const auto one = [&]() -> Status {
    if (accept("!")) {
      SOTTO_RETURN_IF_ERROR(name(TokenKind::kWord, "a dialect type").status());
      SOTTO_RETURN_IF_ERROR(expect("<"));
      SOTTO_RETURN_IF_ERROR(memref().status());
      return expect(">");
    }
    if (lexer_.peek().kind == TokenKind::kMemref || lexer_.peek().kind == TokenKind::kWord) {
      lexer_.take();
      return {};
    }
    if (!accept("(")) return error("expected a type");
    while (!accept(")")) {
      if (lexer_.peek().kind != TokenKind::kMemref && lexer_.peek().kind != TokenKind::kWord &&
          !at(",")) {
        return error("expected a type");
      }
      lexer_.take();
    }
    return {};
  };
  SOTTO_RETURN_IF_ERROR(one());
  if (accept("->") || accept("to")) return one();
  return {};
}

}  // namespace sotto::npu
