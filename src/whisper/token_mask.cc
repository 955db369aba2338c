#include "whisper/token_mask.h"

#include <algorithm>

namespace sotto::whisper {

void TokenMask::forbid(int id) {
  float& logit = logits_[static_cast<size_t>(id)];
  if (logit == kNever) return;
  single_.push_back(logit);
  logit = kNever;
}

void TokenMask::forbid(std::span<const int> ids) {
  for (const int id : ids)
    forbid(id);
}

void TokenMask::forbid(int first, int last) {
  if (first >= last) return;
  const auto range = logits_.subspan(static_cast<size_t>(first), static_cast<size_t>(last - first));
  ranges_ = log_add(ranges_, log_sum_exp(range));
  std::fill(range.begin(), range.end(), kNever);
}

}  // namespace sotto::whisper
