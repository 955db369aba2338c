// Choosing tokens: greedy search, sampling and beam search over one window.
#ifndef SOTTO_WHISPER_SEARCH_H_
#define SOTTO_WHISPER_SEARCH_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "sotto/status.h"
#include "whisper/hypothesis.h"
#include "whisper/rules.h"
#include "whisper/window_decoder.h"

namespace sotto::whisper {

/// What all searches of a window share.
struct SearchContext {
  WindowDecoder& decoder;  ///< Prefilled
  const LogitRules& rules;
  std::span<const int> given;  ///< Prompt::transcript()
  int max_tokens = 0;          ///< Tokens to choose at most, end-of-text included; at least 1
  std::optional<float> length_penalty;       ///< See rank_score
  const std::function<bool()>& should_stop;  ///< May be empty; true ends the search with kCancelled
};

/// What hypotheses of different length are compared by: score / length, or with a length penalty
/// alpha score / ((5 + length) / 6)^alpha (https://arxiv.org/abs/1609.08144).
double rank_score(const Hypothesis& hypothesis, std::optional<float> length_penalty);

/// A hypothesis that holds the given tokens only.
Hypothesis start_hypothesis(std::span<const int> given);

/// kCancelled when the caller asked to stop.
Status check_stop(const SearchContext& context);

/// The likeliest token at every step.
Result<Hypothesis> greedy_search(const SearchContext& context);

/// Draws `count` sequences from softmax(logits / temperature), decoded as one batch, and returns
/// the one with the best rank. Equal seeds give equal sequences. temperature > 0.
Result<Hypothesis> sample(const SearchContext& context, float temperature, int count,
                          uint64_t seed);

/// Beam search, all beams decoded as one batch. It ends when round(beams * patience) hypotheses
/// have ended (https://arxiv.org/abs/2204.05424) or at the length limit.
Result<Hypothesis> beam_search(const SearchContext& context, int beams, float patience);

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_SEARCH_H_
