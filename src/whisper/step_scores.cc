#include "whisper/step_scores.h"

#include <cmath>

#include "whisper/logits.h"

namespace sotto::whisper {

Status StepScores::compute(const LogitRules& rules, const Hypothesis& hypothesis,
                           std::span<const float> logits) {
  raw_ = logits;
  own_mass_ = log_sum_exp(logits);
  if (!std::isfinite(own_mass_)) {
    return internal_error(
        "the decoder returned logits that are not numbers; try --device cpu --compute f32");
  }
  allowed_.assign(logits.begin(), logits.end());
  allowed_mass_ = rules.apply(hypothesis.tokens, hypothesis.given, allowed_);
  return {};
}

}  // namespace sotto::whisper
