#include <algorithm>
#include <array>
#include <cmath>

#include "base/float16.h"
#include "kernels/ref/reference.h"

namespace sotto::kernels::ref {
namespace {

constexpr int64_t kCols = 16;
constexpr int64_t kBlockKeys = 64;  // scores of one row and block stay in the first-level cache

float load(float v) {
  return v;
}
float load(uint16_t v) {
  return to_float(Bf16{v});
}
template <typename T>
float rounded(float v);
template <>
float rounded<float>(float v) {
  return v;
}
template <>
float rounded<uint16_t>(float v) {
  return to_float(to_bf16(v));
}

template <typename T>
struct Layout {
  static constexpr int64_t kDepth = 4 / static_cast<int64_t>(sizeof(T));
  // Element `i` along the words, column `j` of the panels that hold it.
  static float at(const void* packed, int64_t words, int64_t i, int64_t j) {
    const T* panel = static_cast<const T*>(packed) + (j / kCols) * words * kDepth * kCols;
    return load(panel[(i / kDepth * kCols + j % kCols) * kDepth + i % kDepth]);
  }
};

template <typename T>
float score(const AttentionArgs& args, const T* q, int64_t key) {
  float sum = 0;
  for (int64_t i = 0; i < args.head_dim; ++i) {
    sum += load(q[i]) * Layout<T>::at(args.k, args.head_dim / Layout<T>::kDepth, i, key);
  }
  return sum * args.scale;
}

// Online softmax: the running sum and output are rescaled whenever a later block holds a higher
// score. Source: https://arxiv.org/abs/1805.02867.
template <typename T>
void run(const AttentionArgs& args) {
  const int64_t value_words = (args.keys + kCols - 1) / kCols * kCols / Layout<T>::kDepth;
  for (int64_t row = 0; row < args.rows; ++row) {
    const T* q = static_cast<const T*>(args.q) + row * args.ldq;
    std::array<float, kMaxHeadDim> out{};
    float highest = -INFINITY;
    float sum = 0;
    for (int64_t first = 0; first < args.keys; first += kBlockKeys) {
      const int64_t count = std::min(kBlockKeys, args.keys - first);
      std::array<float, kBlockKeys> p;
      float block_highest = highest;
      for (int64_t i = 0; i < count; ++i) {
        p[static_cast<size_t>(i)] = score<T>(args, q, first + i);
        block_highest = std::max(block_highest, p[static_cast<size_t>(i)]);
      }
      const float shrink = std::exp(highest - block_highest);
      highest = block_highest;
      sum *= shrink;
      for (int64_t j = 0; j < args.head_dim; ++j)
        out[static_cast<size_t>(j)] *= shrink;
      for (int64_t i = 0; i < count; ++i) {
        const float e = std::exp(p[static_cast<size_t>(i)] - highest);
        sum += e;
        for (int64_t j = 0; j < args.head_dim; ++j) {
          out[static_cast<size_t>(j)] +=
              rounded<T>(e) * Layout<T>::at(args.v, value_words, first + i, j);
        }
      }
    }
    for (int64_t j = 0; j < args.head_dim; ++j) {
      const float v = out[static_cast<size_t>(j)] / sum;
      if (args.out != nullptr) args.out[row * args.ld_out + j] = v;
      if (args.out16 != nullptr) args.out16[row * args.ld_out16 + j] = to_bf16(v).bits;
    }
  }
}

template <typename T>
void probabilities(const AttentionArgs& args, float* scores, int64_t ld_scores) {
  for (int64_t row = 0; row < args.rows; ++row) {
    const T* q = static_cast<const T*>(args.q) + row * args.ldq;
    float* p = scores + row * ld_scores;
    for (int64_t key = 0; key < args.keys; ++key)
      p[key] = score<T>(args, q, key);
    softmax(p, args.keys, 1.0f);
  }
}

template <typename T>
void cached(const CachedAttentionArgs& args) {
  const T* k = static_cast<const T*>(args.k);
  const T* v = static_cast<const T*>(args.v);
  for (int64_t i = 0; i < args.keys; ++i) {
    const T* row = k + args.index[i] * args.stride;
    float sum = 0;
    for (int64_t j = 0; j < args.head_dim; ++j)
      sum += args.q[j] * load(row[j]);
    args.scores[i] = sum;
  }
  softmax(args.scores, args.keys, args.scale);
  std::fill_n(args.out, args.head_dim, 0.0f);
  for (int64_t i = 0; i < args.keys; ++i) {
    const T* row = v + args.index[i] * args.stride;
    for (int64_t j = 0; j < args.head_dim; ++j)
      args.out[j] += args.scores[i] * load(row[j]);
  }
}

}  // namespace

const AttentionKernel kAttentionF32 = {"attention_f32_scalar", GemmType::kF32, 1, kCols, run<float>,
                                       probabilities<float>};
const AttentionKernel kAttentionBf16 = {"attention_bf16_scalar", GemmType::kBf16,        1, kCols,
                                        run<uint16_t>,           probabilities<uint16_t>};
const CachedAttentionKernels kCachedAttention = {"cached_attention_scalar", cached<float>,
                                                 cached<uint16_t>};

}  // namespace sotto::kernels::ref
