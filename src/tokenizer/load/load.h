// Builds tokenizers from what model folders and files carry.
#ifndef SOTTO_TOKENIZER_LOAD_LOAD_H_
#define SOTTO_TOKENIZER_LOAD_LOAD_H_

#include <memory>
#include <string>
#include <string_view>

#include "models/formats/model_file.h"
#include "sotto/status.h"
#include "tokenizer/tokenizer.h"

namespace sotto::tokenizer {

/// From the text of a Hugging Face tokenizer.json (BPE with byte-level alphabet).
Result<std::unique_ptr<Tokenizer>> from_tokenizer_json(std::string_view json);
/// From vocab.json and merges.txt.
Result<std::unique_ptr<Tokenizer>> from_vocab_and_merges(std::string_view vocab_json,
                                                         std::string_view merges_txt);
/// From a whisper.cpp ggml .bin: ordinary tokens by id, specials implied by `vocabulary_size`
/// (n_vocab).
Result<std::unique_ptr<Tokenizer>> from_ggml_vocabulary(const std::vector<std::string>& tokens,
                                                        int vocabulary_size);
/// The tokenizer that belongs to an opened model: its own vocabulary, or the files beside it
/// (tokenizer.json, then vocab.json + merges.txt, then CTranslate2's vocabulary.txt/.json).
Result<std::unique_ptr<Tokenizer>> load_for_model(const models::ModelFile& model);

}  // namespace sotto::tokenizer

#endif  // SOTTO_TOKENIZER_LOAD_LOAD_H_
