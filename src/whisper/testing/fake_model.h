// A Whisper model whose answers a test writes down: search and long-form code run on it without
// weights.
#ifndef SOTTO_WHISPER_TESTING_FAKE_MODEL_H_
#define SOTTO_WHISPER_TESTING_FAKE_MODEL_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "audio/log_mel.h"
#include "whisper/model.h"

namespace sotto::whisper::testing {

/// What the fake decoder knows when it is asked for logits.
struct FakeCall {
  int window = 0;               ///< Number of encode() calls before the one that made this window
  std::span<const int> tokens;  ///< All tokens of the sequence, prompt first
  std::span<const int>
      text;  ///< Those after the start-of-transcript sequence (sot, language, task, no_timestamps)
};

/// Fills logits [n_vocab]; they are all 0 when it is called.
using Script = std::function<void(const FakeCall&, std::span<float>)>;
/// Fills the cross-attention of one row: for each head, [positions] probabilities. `row`: index of
/// the token in its sequence.
using AttentionScript = std::function<void(const FakeCall&, int head, std::span<float>)>;

struct FakeOptions {
  bool multilingual = true;
  int n_text_ctx = 448;
  int languages = 3;  ///< English, Chinese, German
  int heads = 2;      ///< Alignment heads
};

/// Vocabulary: ids 0..255 are single bytes, then a few words, then Whisper's special tokens with
/// 1501 timestamps.
class FakeModel : public Model {
 public:
  explicit FakeModel(Script script, const FakeOptions& options = {});

  [[nodiscard]] const Config& config() const override { return config_; }
  [[nodiscard]] const tokenizer::Tokenizer& tokenizer() const override { return *tokenizer_; }
  [[nodiscard]] const tokenizer::WhisperTokens& tokens() const override { return tokens_; }
  Result<std::unique_ptr<EncodedWindow>> encode(std::span<const float> mel, int positions) override;
  Result<std::unique_ptr<Decoder>> create_decoder(int sequences) override;
  /// Search never touches the device; calling this ends the test program.
  [[nodiscard]] ops::Backend& backend() override;

  void set_attention(AttentionScript attention) { attention_ = std::move(attention); }
  Config& mutable_config() { return config_; }

  /// Id of a byte or of a word of the vocabulary, e.g. word(" hello").
  [[nodiscard]] int word(std::string_view text) const;
  /// Id of the timestamp token at `seconds`.
  [[nodiscard]] int time(double seconds) const;
  /// Prompt lengths, token counts and so on as the decoder saw them.
  struct Log {
    int encodes = 0;
    std::vector<int> positions;             ///< Of each encode()
    std::vector<std::vector<float>> mels;   ///< Of each encode()
    std::vector<std::vector<int>> prompts;  ///< First rows of each decoder use after clear()
    std::vector<size_t> batch_rows;         ///< Rows of each step()
    std::string misuse;                     ///< First breach of the Decoder contract; "" if none
  };
  [[nodiscard]] const Log& log() const { return log_; }

 private:
  friend class FakeDecoder;
  Script script_;
  AttentionScript attention_;
  Config config_;
  std::unique_ptr<tokenizer::Tokenizer> tokenizer_;
  tokenizer::WhisperTokens tokens_;
  Log log_;
};

/// A script that writes `windows[w]` for window w, then end-of-text: each next token has logit 10,
/// all others 0.
Script write_windows(std::vector<std::vector<int>> windows, int eot);

/// Features of `seconds` of silence.
audio::LogMel silent_mel(double seconds);

}  // namespace sotto::whisper::testing

#endif  // SOTTO_WHISPER_TESTING_FAKE_MODEL_H_
