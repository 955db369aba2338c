#include "tokenizer/pre_tokenizer.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

#include "base/utf8.h"
#include "tokenizer/unicode_tables.h"

namespace sotto::tokenizer {
namespace {

constexpr std::array<std::string_view, 7> kContractions = {"'s", "'t",  "'re", "'ve",
                                                           "'m", "'ll", "'d"};

bool contains(std::span<const CodeRange> ranges, char32_t code) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), code,
                                      [](char32_t c, const CodeRange& r) { return c < r.first; });
  return after != ranges.begin() && code <= std::prev(after)->last;
}

bool is_space(char32_t code) {
  return (code >= 0x09 && code <= 0x0D) || code == 0x20 || code == 0x85 || code == 0xA0 ||
         code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
         code == 0x202F || code == 0x205F || code == 0x3000;
}

CharClass ascii_class(char32_t code) {
  if ((code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z')) return CharClass::kLetter;
  if (code >= '0' && code <= '9') return CharClass::kNumber;
  return is_space(code) ? CharClass::kSpace : CharClass::kOther;
}

/// End of the run of characters of class `wanted` that starts at `position`.
size_t end_of_run(std::string_view text, size_t position, CharClass wanted) {
  while (position < text.size()) {
    const Utf8Char c = utf8_decode(text, position);
    if (char_class(c.code) != wanted) break;
    position += c.length;
  }
  return position;
}

/// White space is one piece up to the end of the text; before other text its last character is left
/// to that text.
size_t space_piece(std::string_view text, size_t position) {
  size_t last = position;
  size_t end = position;
  while (end < text.size()) {
    const Utf8Char c = utf8_decode(text, end);
    if (char_class(c.code) != CharClass::kSpace) break;
    last = end;
    end += c.length;
  }
  return (end < text.size() && last > position ? last : end) - position;
}

}  // namespace

CharClass char_class(char32_t code) {
  if (code < 0x80) return ascii_class(code);
  if (contains(kLetterRanges, code)) return CharClass::kLetter;
  if (contains(kNumberRanges, code)) return CharClass::kNumber;
  return is_space(code) ? CharClass::kSpace : CharClass::kOther;
}

size_t next_gpt2_piece(std::string_view text, size_t position) {
  const std::string_view rest = text.substr(position);
  for (const std::string_view contraction : kContractions) {
    if (rest.starts_with(contraction)) return contraction.size();
  }
  const size_t start = position + (rest.front() == ' ' ? 1 : 0);  // " ?" of the expression
  if (start < text.size()) {
    const CharClass wanted = char_class(utf8_decode(text, start).code);
    if (wanted != CharClass::kSpace) return end_of_run(text, start, wanted) - position;
  }
  return space_piece(text, position);
}

}  // namespace sotto::tokenizer
