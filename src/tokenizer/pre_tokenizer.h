// Splits text into the pieces that byte-level BPE merges on its own.
#ifndef SOTTO_TOKENIZER_PRE_TOKENIZER_H_
#define SOTTO_TOKENIZER_PRE_TOKENIZER_H_

#include <cstddef>
#include <string_view>

namespace sotto::tokenizer {

enum class CharClass { kLetter, kNumber, kSpace, kOther };

/// Class of a code point: general category L* or N*, the property White_Space, or none of these.
CharClass char_class(char32_t code);

/// Length in bytes of GPT-2's next piece at `position` (< text.size()), at least 1. The pieces are
/// those of the regular expression published with GPT-2,
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// where broken UTF-8 counts as a character of the fourth kind.
size_t next_gpt2_piece(std::string_view text, size_t position);

}  // namespace sotto::tokenizer

#endif  // SOTTO_TOKENIZER_PRE_TOKENIZER_H_
