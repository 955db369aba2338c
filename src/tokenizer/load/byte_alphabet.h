// GPT-2's printable alphabet for bytes, in which Hugging Face files write tokens.
#ifndef SOTTO_TOKENIZER_LOAD_BYTE_ALPHABET_H_
#define SOTTO_TOKENIZER_LOAD_BYTE_ALPHABET_H_

#include <optional>
#include <string>
#include <string_view>

namespace sotto::tokenizer {

/// Bytes that `text` stands for; nothing when a character of it is not of the alphabet. Printable
/// Latin-1 bytes stand for themselves, the 68 others are U+0100, U+0101, … in ascending order (a
/// space is U+0120).
std::optional<std::string> bytes_of_alphabet(std::string_view text);

/// The other way.
std::string alphabet_of_bytes(std::string_view bytes);

}  // namespace sotto::tokenizer

#endif  // SOTTO_TOKENIZER_LOAD_BYTE_ALPHABET_H_
