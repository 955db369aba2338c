#include "whisper/model.h"

#include <utility>

#include "models/formats/model_file.h"
#include "tokenizer/load/load.h"
#include "whisper/decoder.h"
#include "whisper/encoder.h"
#include "whisper/weights.h"
#include "whisper/weights_naming.h"

namespace sotto::whisper {
namespace {

class CheckpointModel final : public Model {
 public:
  CheckpointModel(models::ModelFile file, std::unique_ptr<ops::Backend> backend, Config config,
                  Weights weights, std::unique_ptr<tokenizer::Tokenizer> tokenizer,
                  const tokenizer::WhisperTokens& tokens)
      : file_(std::move(file)),
        backend_(std::move(backend)),
        config_(std::move(config)),
        weights_(std::move(weights)),
        tokenizer_(std::move(tokenizer)),
        tokens_(tokens) {}

  [[nodiscard]] const Config& config() const override { return config_; }
  [[nodiscard]] const tokenizer::Tokenizer& tokenizer() const override { return *tokenizer_; }
  [[nodiscard]] const tokenizer::WhisperTokens& tokens() const override { return tokens_; }
  [[nodiscard]] ops::Backend& backend() override { return *backend_; }

  Result<std::unique_ptr<EncodedWindow>> encode(std::span<const float> mel,
                                                int positions) override {
    SOTTO_ASSIGN_OR_RETURN(const auto encoded,
                           run_encoder(*backend_, config_, weights_, mel, positions));
    return make_window(*backend_, config_, weights_, encoded);
  }

  Result<std::unique_ptr<Decoder>> create_decoder(int sequences) override {
    return CachedDecoder::create(*backend_, config_, weights_, sequences);
  }

 private:
  models::ModelFile file_;  // The embedding tables read its bytes
  std::unique_ptr<ops::Backend> backend_;
  Config config_;
  Weights weights_;  // After the backend that made them, so that they go first
  std::unique_ptr<tokenizer::Tokenizer> tokenizer_;
  tokenizer::WhisperTokens tokens_;
};

/// A tokenizer of another checkpoint would turn good tokens into wrong text.
Status check_tokenizer(const models::ModelFile& file, const tokenizer::Tokenizer& tokenizer,
                       const tokenizer::WhisperTokens& tokens, int n_vocab) {
  if (tokenizer.vocabulary_size() > n_vocab) {
    return corrupt("the tokenizer of " + file.path + " has " +
                   std::to_string(tokenizer.vocabulary_size()) + " tokens, the weights only " +
                   std::to_string(n_vocab) + "; they belong to different models");
  }
  // Older tokenizer files leave the timestamps out, but none leaves out the end of text, which has
  // another id in English-only models.
  if (const int end = tokenizer.special_id("<|endoftext|>"); end != tokens.eot) {
    return corrupt(
        "the tokenizer of " + file.path +
        (end < 0 ? " has no <|endoftext|>" : " has <|endoftext|> at " + std::to_string(end)) +
        ", a model with " + std::to_string(n_vocab) + " tokens has it at " +
        std::to_string(tokens.eot) + "; they belong to different models");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Model>> load_model(const std::string& path,
                                          std::unique_ptr<ops::Backend> backend) {
  SOTTO_ASSIGN_OR_RETURN(models::ModelFile file, models::open_model_file(path));
  SOTTO_ASSIGN_OR_RETURN(const Naming naming, detect_naming(file));
  SOTTO_ASSIGN_OR_RETURN(Config config, read_config(file, naming));
  auto tokens = tokenizer::whisper_tokens(config.n_vocab);
  if (!tokens.ok()) return tokens.status().with_context(file.path);
  SOTTO_ASSIGN_OR_RETURN(auto tokenizer, tokenizer::load_for_model(file));
  SOTTO_RETURN_IF_ERROR(check_tokenizer(file, *tokenizer, *tokens, config.n_vocab));
  SOTTO_ASSIGN_OR_RETURN(Weights weights, upload_weights(file, naming, config, *backend));
  return std::unique_ptr<Model>(
      std::make_unique<CheckpointModel>(std::move(file), std::move(backend), std::move(config),
                                        std::move(weights), std::move(tokenizer), *tokens));
}

}  // namespace sotto::whisper
