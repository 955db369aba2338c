#include "whisper/step_scores.h"

#include <cmath>

#include "whisper/logits.h"

namespace sotto::whisper {

Status StepScores::compute(const LogitRules& rules, const Hypothesis& hypothesis,
                           std::span<const float> logits) {
  raw_ = logits;
  allowed_.assign(logits.begin(), logits.end());
  const RuleMasses masses = rules.apply(hypothesis.tokens, hypothesis.given, allowed_);
  allowed_mass_ = masses.allowed;
  own_mass_ = rules.changes_allowed() ? log_sum_exp(logits) : masses.all;
  if (!std::isfinite(own_mass_)) {
    return internal_error(
        "the decoder returned logits that are not numbers; try --device cpu --compute f32");
  }
  return {};
}

}  // namespace sotto::whisper
