#include "whisper/fallback.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>

#include "base/utf8.h"
#include "whisper/loops.h"
#include "whisper/search.h"
#include "whisper/text.h"

namespace sotto::whisper {
namespace {

constexpr size_t kEntropyTokens = 32;

/// Why the text counts as repetitive; empty when it does not.
std::string_view repetition(const WindowText& text, const TranscribeOptions& options) {
  if (options.compression_ratio_threshold &&
      text.compression_ratio > *options.compression_ratio_threshold) {
    return "compression_ratio";
  }
  if (options.entropy_threshold && text.hypothesis.tokens.size() > kEntropyTokens &&
      token_entropy(text.hypothesis.tokens) < *options.entropy_threshold) {
    return "entropy";
  }
  return options.drop_made_up_text && text.loops ? "loop" : "";
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

std::vector<int> text_only(std::span<const int> tokens, int eot) {
  std::vector<int> text;
  std::copy_if(tokens.begin(), tokens.end(), std::back_inserter(text),
               [eot](int id) { return id < eot; });
  return text;
}

std::string text_of(std::span<const int> tokens, const Model& model) {
  return std::string(trimmed(utf8_repair(model.tokenizer().decode(tokens))));
}

WindowText describe(Hypothesis hypothesis, const Model& model, float no_speech_prob,
                    float temperature) {
  WindowText result;
  result.text = text_of(hypothesis.tokens, model);
  result.loops = find_loop(text_only(hypothesis.tokens, model.tokens().eot)).has_value();
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

std::string_view fallback_reason(const WindowText& text, const TranscribeOptions& options) {
  const bool silent =
      options.no_speech_threshold && text.no_speech_prob > *options.no_speech_threshold;
  if (silent && improbable(text, options)) return "";
  if (const std::string_view reason = repetition(text, options); !reason.empty()) return reason;
  return improbable(text, options) ? "logprob" : "";
}

std::string cut_loop(WindowText& decoded, const Model& model) {
  std::vector<int>& tokens = decoded.hypothesis.tokens;
  const int eot = model.tokens().eot;
  const std::optional<Loop> loop = find_loop(text_only(tokens, eot));
  if (!loop || decoded.hypothesis.ended) return "";
  size_t kept = 0;  // tokens that hold the text up to the end of the first time round
  for (size_t text = 0; kept < tokens.size() && text < loop->begin + loop->period; ++kept)
    text += tokens[kept] < eot ? 1 : 0;
  const std::string cut = text_of(std::span(tokens).subspan(kept), model);
  const bool has_end = kept < tokens.size() && model.tokens().is_timestamp(tokens[kept]);
  tokens.resize(has_end ? kept + 1 : kept);
  decoded.hypothesis.logprobs.resize(tokens.size());
  if (has_end) {  // a pair of timestamps: the next window begins there
    tokens.push_back(tokens.back());
    decoded.hypothesis.logprobs.push_back(decoded.hypothesis.logprobs.back());
  }
  decoded.text = text_of(tokens, model);
  return cut;
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
  std::string_view first_reason;
  int attempts = 0;
  for (const float temperature : options.temperatures) {
    const uint64_t attempt_seed = seed + 0x9E3779B97F4A7C15u * static_cast<uint64_t>(attempts);
    ++attempts;
    SOTTO_ASSIGN_OR_RETURN(Hypothesis hypothesis,
                           search(context, options, temperature, attempt_seed));
    WindowText text =
        describe(std::move(hypothesis), model, decoder.no_speech_probability(), temperature);
    const std::string_view reason = fallback_reason(text, options);
    const bool failed = !reason.empty();
    const bool repeats = !repetition(text, options).empty();
    if (attempts == 1) first_reason = reason;
    const bool better = !best || (best_repeats && !repeats) ||
                        (best_repeats == repeats && text.avg_logprob > best->avg_logprob);
    if (!failed || better) {
      best = std::move(text);
      best_repeats = repeats;
    }
    best->temperature = temperature;
    best->attempts = attempts;
    if (attempts > 1) best->retry_reason = first_reason;
    if (!failed) break;
  }
  return std::move(*best);
}

}  // namespace sotto::whisper
