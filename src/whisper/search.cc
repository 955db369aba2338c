#include "whisper/search.h"

#include <algorithm>
#include <cmath>

namespace sotto::whisper {

double rank_score(const Hypothesis& hypothesis, std::optional<float> length_penalty) {
  const auto length = static_cast<double>(std::max<size_t>(hypothesis.chosen(), 1));
  return hypothesis.score / (length_penalty ? std::pow((5 + length) / 6, *length_penalty) : length);
}

Hypothesis start_hypothesis(std::span<const int> given) {
  Hypothesis hypothesis;
  hypothesis.tokens.assign(given.begin(), given.end());
  hypothesis.logprobs.assign(given.size(), 0.0f);
  hypothesis.given = given.size();
  return hypothesis;
}

Status check_stop(const SearchContext& context) {
  if (context.should_stop && context.should_stop())
    return cancelled("the transcription was stopped");
  return {};
}

}  // namespace sotto::whisper
