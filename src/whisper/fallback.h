// Decoding one window until the text passes its checks: the temperatures are tried in order.
#ifndef SOTTO_WHISPER_FALLBACK_H_
#define SOTTO_WHISPER_FALLBACK_H_

#include <functional>
#include <span>
#include <string>

#include "sotto/status.h"
#include "sotto/transcribe.h"
#include "whisper/hypothesis.h"
#include "whisper/prompt.h"
#include "whisper/rules.h"
#include "whisper/window_decoder.h"

namespace sotto::whisper {

/// What a window decoded to.
struct WindowText {
  Hypothesis hypothesis;
  std::string text;       ///< Trimmed
  float temperature = 0;  ///< Last one tried
  float avg_logprob = 0;  ///< Under the rules, over the chosen tokens and end-of-text
  float compression_ratio = 0;
  float no_speech_prob = 0;
  int attempts = 1;
  bool loops = false;             ///< See find_loop(); timestamps do not count
  std::string_view retry_reason;  ///< Of the first failed attempt: see RetriedSpan; empty: none
};

/// Entropy (nats) of the distribution of the last 32 tokens; low when they repeat. Source:
/// whisper.cpp.
double token_entropy(std::span<const int> tokens);

/// Why the checks call for the next temperature: "compression_ratio", "entropy", "loop" or
/// "logprob"; empty when they do not.
std::string_view fallback_reason(const WindowText& text, const TranscribeOptions& options);

/// Cuts a text that ran in circles until the length limit after the first time round, so that the
/// next window can begin there. Returns what was cut off, trimmed; empty when nothing had to be.
std::string cut_loop(WindowText& decoded, const Model& model);

/// True when the no-speech rule says that the window is to be skipped: no_speech_prob above its
/// threshold, unless avg_logprob is above its own.
bool is_silence(const WindowText& text, const TranscribeOptions& options);

/// Decodes a prefilled window. When every temperature fails, the attempt with the best avg_logprob
/// wins, among those whose text is not too repetitive if there are any (as faster-whisper does;
/// openai/whisper takes the last one). `seed` should differ between windows.
Result<WindowText> decode_with_fallback(WindowDecoder& decoder, const LogitRules& rules,
                                        const Model& model, const Prompt& prompt,
                                        const TranscribeOptions& options, uint64_t seed,
                                        const std::function<bool()>& should_stop);

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_FALLBACK_H_
