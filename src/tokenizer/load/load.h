// Builds tokenizers from what model folders and files carry. A vocabulary that names Whisper's
// special tokens gets the complete set of them, timestamps included, whatever part of it the file
// lists.
#ifndef SOTTO_TOKENIZER_LOAD_LOAD_H_
#define SOTTO_TOKENIZER_LOAD_LOAD_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/formats/model_file.h"
#include "sotto/status.h"
#include "tokenizer/tokenizer.h"

namespace sotto::tokenizer {

// All: kCorrupt when the text contradicts its own format or lacks what encode() needs, kUnsupported
// when it is another kind of tokenizer than byte-level BPE.

/// From the text of a Hugging Face tokenizer.json (BPE with byte-level alphabet).
Result<std::unique_ptr<Tokenizer>> from_tokenizer_json(std::string_view json);
/// From vocab.json and merges.txt.
Result<std::unique_ptr<Tokenizer>> from_vocab_and_merges(std::string_view vocab_json,
                                                         std::string_view merges_txt);
/// From a whisper.cpp ggml .bin: ordinary tokens by id, specials implied by `vocabulary_size`
/// (n_vocab).
Result<std::unique_ptr<Tokenizer>> from_ggml_vocabulary(const std::vector<std::string>& tokens,
                                                        int vocabulary_size);
/// From CTranslate2's vocabulary.txt: one token a line, in the byte alphabet.
Result<std::unique_ptr<Tokenizer>> from_vocabulary_txt(std::string_view text);
/// From CTranslate2's vocabulary.json: an array of the same.
Result<std::unique_ptr<Tokenizer>> from_vocabulary_json(std::string_view json);
/// The tokenizer that belongs to an opened model: the vocabulary inside a ggml file, else the files
/// beside the model (with a CTranslate2 model its vocabulary.txt/.json; then tokenizer.json; then
/// vocab.json + merges.txt). kNotFound when there are none.
Result<std::unique_ptr<Tokenizer>> load_for_model(const models::ModelFile& model);

}  // namespace sotto::tokenizer

#endif  // SOTTO_TOKENIZER_LOAD_LOAD_H_
