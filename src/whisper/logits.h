// Numeric work on one row of logits. Rows have tens of thousands of entries and are read at every
// step of every beam, so nothing here sorts them.
#ifndef SOTTO_WHISPER_LOGITS_H_
#define SOTTO_WHISPER_LOGITS_H_

#include <limits>
#include <span>
#include <vector>

namespace sotto::whisper {

/// Stands for "never": the logit of a token that a rule forbids.
inline constexpr float kNever = -std::numeric_limits<float>::infinity();

/// A token and a value that ranks it.
struct ScoredToken {
  int id = 0;
  float value = kNever;
};

/// Largest entry; kNever when every entry is kNever or NaN.
float largest(std::span<const float> row);

/// The largest entry with the smallest index among equals; {-1, kNever} when every entry is kNever
/// or NaN.
ScoredToken best_token(std::span<const float> row);

/// log(sum(exp(row))); kNever when every entry is kNever. Relative error of the sum below 1e-6.
float log_sum_exp(std::span<const float> row);

/// log(exp(a) + exp(b)).
float log_add(float a, float b);

/// The `count` largest entries that are not kNever, best first, equals by index. `out` is
/// overwritten.
void top_tokens(std::span<const float> row, int count, std::vector<ScoredToken>& out);

/// Draws from softmax(row / temperature): the entry at which the running sum passes `uniform` (in
/// [0, 1)) of the total; -1 when every entry is kNever.
int sample_token(std::span<const float> row, float temperature, double uniform);

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_LOGITS_H_
