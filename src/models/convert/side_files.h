// The JSON files that other programs expect beside the weights.
#ifndef SOTTO_MODELS_CONVERT_SIDE_FILES_H_
#define SOTTO_MODELS_CONVERT_SIDE_FILES_H_

#include <string>

#include "models/convert/checkpoint.h"
#include "sotto/status.h"

namespace sotto::convert {

/// CTranslate2's config.json: token lists and alignment heads.
std::string ctranslate2_config(const Checkpoint& checkpoint);
/// CTranslate2's vocabulary.json: every token by id, in the byte alphabet.
std::string ctranslate2_vocabulary(const Checkpoint& checkpoint);

/// Transformers' config.json of a WhisperForConditionalGeneration with weights of type `dtype`.
Result<std::string> transformers_config(const Checkpoint& checkpoint, DType dtype);
std::string transformers_generation_config(const Checkpoint& checkpoint);
/// Also read by faster-whisper, for the number of mel bands.
std::string preprocessor_config(const Checkpoint& checkpoint);
std::string transformers_tokenizer_config(const Checkpoint& checkpoint);

// Written from the vocabulary:
/// tokenizer.json.
std::string tokenizer_json(const Checkpoint& checkpoint);
/// vocab.json, merges.txt and added_tokens.json, which WhisperTokenizer reads instead.
std::string transformers_vocabulary(const Checkpoint& checkpoint);
std::string transformers_merges(const Checkpoint& checkpoint);
std::string transformers_added_tokens(const Checkpoint& checkpoint);

}  // namespace sotto::convert

#endif  // SOTTO_MODELS_CONVERT_SIDE_FILES_H_
