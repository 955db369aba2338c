// What may follow one hypothesis and how likely it is.
#ifndef SOTTO_WHISPER_STEP_SCORES_H_
#define SOTTO_WHISPER_STEP_SCORES_H_

#include <span>
#include <vector>

#include "sotto/status.h"
#include "whisper/hypothesis.h"
#include "whisper/rules.h"

namespace sotto::whisper {

/// The next token's distribution after one hypothesis, twice: the model's own and the one that the
/// rules leave.
class StepScores {
 public:
  /// `logits` [n_vocab]: raw, copied. kInternal when they are not numbers.
  Status compute(const LogitRules& rules, const Hypothesis& hypothesis,
                 std::span<const float> logits);

  /// Log-probability under the rules and under the model alone.
  [[nodiscard]] float rule_logprob(int id) const {
    return allowed_[static_cast<size_t>(id)] - allowed_mass_;
  }
  [[nodiscard]] float own_logprob(int id) const {
    return raw_[static_cast<size_t>(id)] - own_mass_;
  }
  /// Logits with kNever for every forbidden token.
  [[nodiscard]] std::span<const float> allowed() const { return allowed_; }

 private:
  std::span<const float> raw_;
  std::vector<float> allowed_;
  float own_mass_ = 0;
  float allowed_mass_ = 0;
};

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_STEP_SCORES_H_
