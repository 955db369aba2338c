// Small measures of decoded text.
#ifndef SOTTO_WHISPER_TEXT_H_
#define SOTTO_WHISPER_TEXT_H_

#include <string_view>

namespace sotto::whisper {

/// `text` without white space at both ends (Unicode's, as Python's str.strip() counts it).
std::string_view trimmed(std::string_view text);

/// Bytes of `text` over bytes of its zlib stream: high for repetitive text. 0 for empty text.
double compression_ratio(std::string_view text);

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_TEXT_H_
