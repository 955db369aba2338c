// Forbidding tokens in a row of logits.
#ifndef SOTTO_WHISPER_TOKEN_MASK_H_
#define SOTTO_WHISPER_TOKEN_MASK_H_

#include <span>
#include <vector>

#include "whisper/logits.h"

namespace sotto::whisper {

/// Sets logits to kNever and keeps count of the mass that they had, so that both the distribution
/// with all tokens and the one that is left need each exponential only once.
class TokenMask {
 public:
  /// `logits` is only borrowed.
  explicit TokenMask(std::span<float> logits) : logits_(logits) {}

  void forbid(int id);
  void forbid(std::span<const int> ids);
  /// Tokens first .. last - 1.
  void forbid(int first, int last);

  /// Log-sum-exp of what was forbidden.
  [[nodiscard]] float mass() const { return log_add(ranges_, log_sum_exp(single_)); }

 private:
  std::span<float> logits_;
  std::vector<float> single_;
  float ranges_ = kNever;
};

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_TOKEN_MASK_H_
