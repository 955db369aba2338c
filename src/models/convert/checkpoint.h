// An opened Whisper checkpoint: everything that a conversion reads.
#ifndef SOTTO_MODELS_CONVERT_CHECKPOINT_H_
#define SOTTO_MODELS_CONVERT_CHECKPOINT_H_

#include <memory>
#include <string>
#include <vector>

#include "models/formats/model_file.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/whisper_tokens.h"
#include "whisper/config.h"
#include "whisper/weights_naming.h"

namespace sotto::convert {

struct Checkpoint {
  models::ModelFile file;
  whisper::Naming naming;
  whisper::Config config;
  std::unique_ptr<tokenizer::Tokenizer> tokenizer;
  tokenizer::WhisperTokens tokens;
  std::string folder;  ///< Of the config and tokenizer files beside the weights; "" for formats
                       ///< that stand alone
};

Result<Checkpoint> open_checkpoint(const std::string& path);

/// The model's list of tokens that are never decoded, else the one that OpenAI's rule gives, as
/// Transformers writes it: with the special tokens.
std::vector<int> suppressed_tokens(const Checkpoint& checkpoint);
/// The same for tokens that may not come first: the space and the end of text.
std::vector<int> suppressed_at_begin(const Checkpoint& checkpoint);

}  // namespace sotto::convert

#endif  // SOTTO_MODELS_CONVERT_CHECKPOINT_H_
