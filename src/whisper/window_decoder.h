// One window's decoding state: the prompt is run once, then any number of searches continue it.
#ifndef SOTTO_WHISPER_WINDOW_DECODER_H_
#define SOTTO_WHISPER_WINDOW_DECODER_H_

#include <span>
#include <vector>

#include "sotto/status.h"
#include "whisper/model.h"
#include "whisper/prompt.h"

namespace sotto::whisper {

class WindowDecoder {
 public:
  /// `decoder` and `window` are only borrowed. `decoder` holds `max_sequences` sequences.
  WindowDecoder(const Model& model, Decoder& decoder, const EncodedWindow& window,
                int max_sequences);

  /// Runs the prompt. Forgets whatever the decoder held.
  Status prefill(const Prompt& prompt);

  /// Probability of the no-speech token where the transcript starts.
  [[nodiscard]] float no_speech_probability() const { return no_speech_probability_; }
  /// Raw logits [n_vocab] of the token that follows the prompt.
  [[nodiscard]] std::span<const float> prompt_logits() const { return prompt_logits_; }
  /// Tokens that may follow the prompt until the text context is full.
  [[nodiscard]] int room() const;

  /// Sequences 0..n-1 all stand at the end of the prompt.
  Status restart(int n);
  /// Sequence i continues sequence parents[i].
  Status reorder(std::span<const int> parents);
  /// Feeds tokens[i] to sequences[i]; all stand at the same length. Row i of logits() then belongs
  /// to sequences[i].
  Status step(std::span<const int> sequences, std::span<const int> tokens);
  [[nodiscard]] std::span<float> logits(size_t row);

  [[nodiscard]] int n_vocab() const { return n_vocab_; }
  [[nodiscard]] int eot() const { return eot_; }

 private:
  Decoder& decoder_;
  const EncodedWindow& window_;
  int n_vocab_;
  int n_text_ctx_;
  int eot_;
  int no_speech_;
  int64_t prompt_length_ = 0;
  int64_t length_ = 0;  ///< Of every live sequence
  float no_speech_probability_ = 0;
  std::vector<float> prompt_logits_;
  std::vector<float> logits_;  ///< [max_sequences, n_vocab]
};

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_WINDOW_DECODER_H_
