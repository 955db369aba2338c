// Steps that the readers of load.h share.
#ifndef SOTTO_TOKENIZER_LOAD_BUILD_H_
#define SOTTO_TOKENIZER_LOAD_BUILD_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "sotto/status.h"
#include "tokenizer/tokenizer.h"

namespace sotto::tokenizer {

/// Largest vocabulary accepted: four times the largest in use, and a bound for the memory that a
/// hostile id can claim.
inline constexpr int kMaxVocabulary = 1 << 20;

/// Puts `bytes` at `id`; kCorrupt when the id is out of range or taken by other bytes.
Status add_token(BpeData& data, int64_t id, std::string bytes);

/// The same for a token written in the byte alphabet; kCorrupt when it is not.
Status add_alphabet_token(BpeData& data, int64_t id, std::string_view text);

/// The object {"token": id, ...} of vocab.json and of tokenizer.json's "model".
Status add_vocabulary_object(BpeData& data, const nlohmann::json& vocabulary);

/// One merge, its two halves in the byte alphabet.
Status add_merge(BpeData& data, std::string_view left, std::string_view right);
/// One merge written "left right".
Status add_merge_line(BpeData& data, std::string_view line);

/// Marks the tokens that read "<|...|>" as special, for files that do not say which are.
void mark_special_tokens(BpeData& data);

/// The tokenizer, with Whisper's complete special tokens when `data` names them.
Result<std::unique_ptr<Tokenizer>> build(BpeData data);

}  // namespace sotto::tokenizer

#endif  // SOTTO_TOKENIZER_LOAD_BUILD_H_
