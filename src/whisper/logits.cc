#include "whisper/logits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace sotto::whisper {
namespace {

constexpr size_t kLanes = 16;

/// exp(x) for x <= 0; below -87 it stays at 1.6e-38, which is nothing beside a largest entry of 1.
/// 2^n times a polynomial of the fraction, branch-free, so that the compiler turns a block of these
/// into vector code. Coefficients: those of Cephes' exp2f (https://www.netlib.org/cephes), relative
/// error 2e-7.
inline float exp_of_negative(float x) {
  const float scaled = std::max(x, -87.0f) * 1.44269504f;
  // Adding 1.5 * 2^23 leaves the nearest integer in the low bits of the mantissa.
  const float shifted = scaled + 12582912.0f;
  const auto whole = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(12582912.0f);
  const float f = scaled - (shifted - 12582912.0f);
  float p = 1.535336188e-4f;
  p = p * f + 1.339887440e-3f;
  p = p * f + 9.618437358e-3f;
  p = p * f + 5.550332471e-2f;
  p = p * f + 2.402264791e-1f;
  p = p * f + 6.931472029e-1f;
  p = p * f + 1.0f;
  return std::bit_cast<float>(std::bit_cast<int32_t>(p) + (whole << 23));
}

/// Orders the heap of top_tokens: its front is the candidate that falls out first.
bool ranks_before(const ScoredToken& a, const ScoredToken& b) {
  return a.value > b.value || (a.value == b.value && a.id < b.id);
}

}  // namespace

float largest(std::span<const float> row) {
  float lanes[kLanes];
  std::fill(std::begin(lanes), std::end(lanes), kNever);
  size_t i = 0;
  for (; i + kLanes <= row.size(); i += kLanes) {
    for (size_t k = 0; k < kLanes; ++k)
      lanes[k] = std::max(lanes[k], row[i + k]);
  }
  float result = *std::max_element(std::begin(lanes), std::end(lanes));
  for (; i < row.size(); ++i)
    result = std::max(result, row[i]);
  return result;
}

ScoredToken best_token(std::span<const float> row) {
  const float top = largest(row);
  if (top == kNever) return {-1, kNever};
  const auto at = std::find(row.begin(), row.end(), top);
  return {static_cast<int>(at - row.begin()), top};
}

float log_sum_exp(std::span<const float> row) {
  const float top = largest(row);
  if (top == kNever) return kNever;
  float lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= row.size(); i += kLanes) {
    for (size_t k = 0; k < kLanes; ++k)
      lanes[k] += exp_of_negative(row[i + k] - top);
  }
  double sum = 0;
  for (const float lane : lanes)
    sum += lane;
  for (; i < row.size(); ++i)
    sum += exp_of_negative(row[i] - top);
  return top + static_cast<float>(std::log(sum));
}

float log_add(float a, float b) {
  if (a == kNever) return b;
  if (b == kNever) return a;
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

void top_tokens(std::span<const float> row, int count, std::vector<ScoredToken>& out) {
  out.clear();
  if (count <= 0) return;
  const auto limit = static_cast<size_t>(count);
  float floor = kNever;
  for (size_t i = 0; i < row.size(); ++i) {
    if (!(row[i] > floor)) continue;
    if (out.size() == limit) {
      std::pop_heap(out.begin(), out.end(), ranks_before);
      out.pop_back();
    }
    out.push_back({static_cast<int>(i), row[i]});
    std::push_heap(out.begin(), out.end(), ranks_before);
    if (out.size() == limit) floor = out.front().value;
  }
  std::sort(out.begin(), out.end(), ranks_before);
}

int sample_token(std::span<const float> row, float temperature, double uniform) {
  const float top = largest(row);
  if (top == kNever) return -1;
  const float scale = 1.0f / temperature;
  std::vector<float> block_sums;
  double total = 0;
  for (size_t first = 0; first < row.size(); first += kLanes) {
    float weights[kLanes] = {};
    const auto block = row.subspan(first, std::min(kLanes, row.size() - first));
    if (block.size() == kLanes) {
      for (size_t k = 0; k < kLanes; ++k)
        weights[k] = exp_of_negative((block[k] - top) * scale);
    } else {
      for (size_t k = 0; k < block.size(); ++k)
        weights[k] = exp_of_negative((block[k] - top) * scale);
    }
    block_sums.push_back(std::accumulate(std::begin(weights), std::end(weights), 0.0f));
    total += block_sums.back();
  }
  double left = uniform * total;
  size_t block = 0;
  while (block + 1 < block_sums.size() && left >= block_sums[block])
    left -= block_sums[block++];
  int last = -1;
  for (size_t i = block * kLanes; i < row.size(); ++i) {
    if (row[i] == kNever) continue;
    last = static_cast<int>(i);
    left -= exp_of_negative((row[i] - top) * scale);
    if (left < 0) return last;
  }
  return last >= 0 ? last : best_token(row).id;
}

}  // namespace sotto::whisper
