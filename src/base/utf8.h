// UTF-8: decoding, repair, and cutting a byte stream between characters.
#ifndef SOTTO_BASE_UTF8_H_
#define SOTTO_BASE_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace sotto {

/// One step through a text. Broken bytes give U+FFFD with valid = false and the length that
/// Unicode's "maximal subpart" practice replaces by one U+FFFD (Unicode 15, section 3.9), as Python
/// and browsers do.
struct Utf8Char {
  char32_t code = 0xFFFD;
  size_t length = 1;  ///< Bytes, at least 1
  bool valid = false;
};

/// The character at byte `position`, which must be less than text.size().
Utf8Char utf8_decode(std::string_view text, size_t position);

/// Appends `code` (U+FFFD in place of what is no scalar value).
void utf8_append(char32_t code, std::string& out);

bool utf8_valid(std::string_view text);

/// The text with every broken sequence replaced by U+FFFD.
std::string utf8_repair(std::string_view text);

/// Number of characters; a broken sequence counts as one.
size_t utf8_length(std::string_view text);

/// Bytes before a character that has begun at the end of `text` but is not finished; text.size()
/// when there is none.
size_t utf8_complete_prefix(std::string_view text);

/// Joins pieces that may be cut inside a character (decoded tokens) into pieces that are not.
class Utf8Stream {
 public:
  /// All characters that are complete by now, always valid UTF-8; an unfinished one is kept for the
  /// next call.
  std::string feed(std::string_view bytes);
  /// What is left at the end: "", or U+FFFD for a character that never got its last bytes.
  std::string flush();

 private:
  std::string pending_;
};

}  // namespace sotto

#endif  // SOTTO_BASE_UTF8_H_
