#include "whisper/window_decoder.h"

#include <algorithm>
#include <cmath>

#include "whisper/logits.h"

namespace sotto::whisper {

WindowDecoder::WindowDecoder(const Model& model, Decoder& decoder, const EncodedWindow& window,
                             int max_sequences)
    : decoder_(decoder),
      window_(window),
      n_vocab_(model.config().n_vocab),
      n_text_ctx_(model.config().n_text_ctx),
      eot_(model.tokens().eot),
      no_speech_(model.tokens().no_speech),
      logits_(static_cast<size_t>(std::max(max_sequences, 2)) * static_cast<size_t>(n_vocab_)) {}

Status WindowDecoder::prefill(const Prompt& prompt) {
  const auto count = static_cast<int64_t>(prompt.tokens.size());
  const auto sot = static_cast<int64_t>(prompt.sot);
  DecodeBatch batch;
  batch.tokens = prompt.tokens;
  batch.windows.assign(prompt.tokens.size(), &window_);
  for (int64_t i = 0; i < count; ++i)
    batch.rows.push_back({0, i});
  batch.logit_rows = {sot};
  if (count - 1 != sot) batch.logit_rows.push_back(count - 1);

  decoder_.clear();
  const auto vocabulary = static_cast<size_t>(n_vocab_);
  SOTTO_RETURN_IF_ERROR(decoder_.step(
      batch, std::span(logits_).first(batch.logit_rows.size() * vocabulary), nullptr));
  const std::span<const float> at_sot = logits(0);
  const std::span<const float> last = logits(batch.logit_rows.size() - 1);
  no_speech_probability_ = std::exp(at_sot[static_cast<size_t>(no_speech_)] - log_sum_exp(at_sot));
  prompt_logits_.assign(last.begin(), last.end());
  prompt_length_ = length_ = count;
  return {};
}

int WindowDecoder::room() const {
  return n_text_ctx_ - static_cast<int>(prompt_length_) + 1;
}

Status WindowDecoder::restart(int n) {
  // The cache still holds the prompt in every sequence that came from it; what was written after it
  // is overwritten.
  length_ = prompt_length_;
  return decoder_.reorder(std::vector<int>(static_cast<size_t>(n), 0), length_);
}

Status WindowDecoder::reorder(std::span<const int> parents) {
  return decoder_.reorder(parents, length_);
}

Status WindowDecoder::step(std::span<const int> sequences, std::span<const int> tokens) {
  DecodeBatch batch;
  batch.tokens.assign(tokens.begin(), tokens.end());
  batch.windows.assign(tokens.size(), &window_);
  for (size_t i = 0; i < tokens.size(); ++i) {
    batch.rows.push_back({sequences[i], length_});
    batch.logit_rows.push_back(static_cast<int64_t>(i));
  }
  ++length_;
  return decoder_.step(
      batch, std::span(logits_).first(tokens.size() * static_cast<size_t>(n_vocab_)), nullptr);
}

std::span<float> WindowDecoder::logits(size_t row) {
  return std::span(logits_).subspan(row * static_cast<size_t>(n_vocab_),
                                    static_cast<size_t>(n_vocab_));
}

}  // namespace sotto::whisper
