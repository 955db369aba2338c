#include "whisper/fallback.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/utf8.h"
#include "whisper/search.h"
#include "whisper/text.h"

namespace sotto::whisper {
namespace {

constexpr size_t kEntropyTokens = 32;

bool too_repetitive(const WindowText& text, const TranscribeOptions& options) {
  if (options.compression_ratio_threshold &&
      text.compression_ratio > *options.compression_ratio_threshold) {
    return true;
  }
  return options.entropy_threshold && text.hypothesis.tokens.size() > kEntropyTokens &&
         token_entropy(text.hypothesis.tokens) < *options.entropy_threshold;
}

bool improbable(const WindowText& text, const TranscribeOptions& options) {
  return options.logprob_threshold && text.avg_logprob < *options.logprob_threshold;
}

Result<Hypothesis> search(const SearchContext& context, const TranscribeOptions& options,
                          float temperature, uint64_t seed) {
  if (temperature > 0) return sample(context, temperature, options.best_of, seed);
  if (options.beam_size > 1) return beam_search(context, options.beam_size, options.patience);
  return greedy_search(context);
}

WindowText describe(Hypothesis hypothesis, const Model& model, float no_speech_prob,
                    float temperature) {
  WindowText result;
  result.text = std::string(trimmed(utf8_repair(model.tokenizer().decode(hypothesis.tokens))));
  result.avg_logprob =
      static_cast<float>(hypothesis.score / static_cast<double>(hypothesis.chosen() + 1));
  result.compression_ratio = static_cast<float>(compression_ratio(result.text));
  result.no_speech_prob = no_speech_prob;
  result.temperature = temperature;
  result.hypothesis = std::move(hypothesis);
  return result;
}

}  // namespace

double token_entropy(std::span<const int> tokens) {
  const std::span<const int> tail = tokens.last(std::min(tokens.size(), kEntropyTokens));
  std::map<int, int> counts;
  for (const int id : tail)
    ++counts[id];
  double entropy = 0;
  for (const auto& [id, count] : counts) {
    const double p = static_cast<double>(count) / static_cast<double>(tail.size());
    entropy -= p * std::log(p);
  }
  return entropy;
}

bool needs_fallback(const WindowText& text, const TranscribeOptions& options) {
  const bool silent =
      options.no_speech_threshold && text.no_speech_prob > *options.no_speech_threshold;
  if (silent && improbable(text, options)) return false;
  return too_repetitive(text, options) || improbable(text, options);
}

bool is_silence(const WindowText& text, const TranscribeOptions& options) {
  if (!options.no_speech_threshold || text.no_speech_prob <= *options.no_speech_threshold)
    return false;
  return !options.logprob_threshold || text.avg_logprob <= *options.logprob_threshold;
}

Result<WindowText> decode_with_fallback(WindowDecoder& decoder, const LogitRules& rules,
                                        const Model& model, const Prompt& prompt,
                                        const TranscribeOptions& options, uint64_t seed,
                                        const std::function<bool()>& should_stop) {
  const int half_context = model.config().n_text_ctx / 2;
  int limit = std::min(half_context - static_cast<int>(prompt.given), decoder.room());
  if (options.max_new_tokens > 0) limit = std::min(limit, options.max_new_tokens);
  const SearchContext context{
      decoder, rules, prompt.transcript(), std::max(limit, 1), options.length_penalty, should_stop};
  std::optional<WindowText> best;
  bool best_repeats = true;
  int attempts = 0;
  for (const float temperature : options.temperatures) {
    const uint64_t attempt_seed = seed + 0x9E3779B97F4A7C15u * static_cast<uint64_t>(attempts);
    ++attempts;
    SOTTO_ASSIGN_OR_RETURN(Hypothesis hypothesis,
                           search(context, options, temperature, attempt_seed));
    WindowText text =
        describe(std::move(hypothesis), model, decoder.no_speech_probability(), temperature);
    const bool failed = needs_fallback(text, options);
    const bool repeats = too_repetitive(text, options);
    const bool better = !best || (best_repeats && !repeats) ||
                        (best_repeats == repeats && text.avg_logprob > best->avg_logprob);
    if (!failed || better) {
      best = std::move(text);
      best_repeats = repeats;
    }
    best->temperature = temperature;
    best->attempts = attempts;
    if (!failed) break;
  }
  return std::move(*best);
}

}  // namespace sotto::whisper
