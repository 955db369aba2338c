// Row operations of layer_norm.h, convert.h, pack.h and cached_attention.h over vectors.
#ifndef SOTTO_KERNELS_X86_64_ROWS_INL_H_
#define SOTTO_KERNELS_X86_64_ROWS_INL_H_

#include "kernels/cached_attention.h"
#include "kernels/convert.h"
#include "kernels/layer_norm.h"
#include "kernels/pack.h"
#include "kernels/x86_64/math-inl.h"
#include "kernels/x86_64/transpose-inl.h"
#include "kernels/x86_64/vec-inl.h"

namespace sotto::kernels {
namespace {

// Calls whole(i) for every full vector of n elements and rest(i, count) for what is left.
template <class Whole, class Rest>
SOTTO_INLINE void for_vectors(int64_t n, const Whole& whole, const Rest& rest) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    whole(i);
  if (i < n) rest(i, n - i);
}

inline void f32_to_bf16(const float* x, int64_t n, uint16_t* y) {
  for_vectors(
      n, [=](int64_t i) { store_bf16(y + i, load(x + i)); },
      [=](int64_t i, int64_t count) { store_bf16_n(y + i, load_n(x + i, count), count); });
}

inline void bf16_to_f32(const void* x, int64_t n, float* y) {
  const auto* p = static_cast<const unsigned char*>(x);
  for_vectors(
      n, [=](int64_t i) { store(y + i, load_bf16(p + 2 * i)); },
      [=](int64_t i, int64_t count) { store_n(y + i, load_bf16_n(p + 2 * i, count), count); });
}

inline void f16_to_f32(const void* x, int64_t n, float* y) {
  const auto* p = static_cast<const unsigned char*>(x);
  for_vectors(
      n, [=](int64_t i) { store(y + i, load_f16(p + 2 * i)); },
      [=](int64_t i, int64_t count) { store_n(y + i, load_f16_n(p + 2 * i, count), count); });
}

inline void quantize_u8(const float* x, int64_t n, uint8_t* y, float* scale, int32_t* zero) {
  Vec lows = set1(0);
  Vec highs = set1(0);
  const auto widen = [&](Vec v) {
    lows = vmin(lows, v);
    highs = vmax(highs, v);
  };
  for_vectors(
      n, [&](int64_t i) { widen(load(x + i)); },
      [&](int64_t i, int64_t count) { widen(load_n(x + i, count)); });
  const float lo = reduce_min(lows);
  const float range = reduce_max(highs) - lo;
  const float inverse = range > 0 ? 255.0f / range : 0.0f;
  const Vec offset = round_even(set1(-lo * inverse));
  const auto code = [&](Vec v) {
    return vmin(vmax(add(round_even(mul(v, set1(inverse))), offset), set1(0)), set1(255.0f));
  };
  for_vectors(
      n, [&](int64_t i) { store_u8(y + i, code(load(x + i))); },
      [&](int64_t i, int64_t count) { store_u8_n(y + i, code(load_n(x + i, count)), count); });
  *scale = range / 255.0f;
  *zero = static_cast<int32_t>(reduce_max(offset));
}

inline void quantize_s8(const float* x, int64_t n, int8_t* y, float* scale, int32_t* sum) {
  Vec highs = set1(0);
  for_vectors(
      n, [&](int64_t i) { highs = vmax(highs, vabs(load(x + i))); },
      [&](int64_t i, int64_t count) { highs = vmax(highs, vabs(load_n(x + i, count))); });
  const float highest = reduce_max(highs);
  const float inverse = highest > 0 ? 127.0f / highest : 0.0f;
  Vec total = set1(0);  // of integers: exact below 2^24
  const auto code = [&](Vec v) {
    const Vec c = vmin(vmax(round_even(mul(v, set1(inverse))), set1(-127.0f)), set1(127.0f));
    total = add(total, c);
    return c;
  };
  for_vectors(
      n, [&](int64_t i) { store_s8(y + i, code(load(x + i))); },
      [&](int64_t i, int64_t count) { store_s8_n(y + i, code(load_n(x + i, count)), count); });
  *scale = highest / 127.0f;
  *sum = static_cast<int32_t>(reduce_add(total));
}

inline float row_sum(const float* x, int64_t n) {
  Vec sum = set1(0);
  for_vectors(
      n, [&](int64_t i) { sum = add(sum, load(x + i)); },
      [&](int64_t i, int64_t count) { sum = add(sum, load_n(x + i, count)); });
  return reduce_add(sum);
}

inline void layer_norm(const LayerNormArgs& args) {
  const int64_t n = args.cols;
  const auto count_f = static_cast<float>(n);
  for (int64_t row = 0; row < args.rows; ++row) {
    const float* x = args.x + row * args.ldx;
    float* y = args.y + row * args.ldy;
    const Vec mean = set1(row_sum(x, n) / count_f);
    Vec squares = set1(0);
    for_vectors(
        n,
        [&](int64_t i) {
          const Vec d = sub(load(x + i), mean);
          squares = fma(d, d, squares);
        },
        [&](int64_t i, int64_t count) {
          const Vec d = sub(load_n(x + i, count), select_n(mean, set1(0), count));
          squares = fma(d, d, squares);
        });
    const Vec factor = set1(1.0f / sqrt1(reduce_add(squares) / count_f + args.epsilon));
    const auto normal = [&](Vec v, Vec gamma, Vec beta) {
      return fma(mul(sub(v, mean), factor), gamma, beta);
    };
    uint16_t* y16 = args.y16 == nullptr ? nullptr : args.y16 + row * args.ldy16;
    for_vectors(
        n,
        [&](int64_t i) {
          const Vec beta = args.beta == nullptr ? set1(0) : load(args.beta + i);
          const Vec v = normal(load(x + i), load(args.gamma + i), beta);
          store(y + i, v);
          if (y16 != nullptr) store_bf16(y16 + i, v);
        },
        [&](int64_t i, int64_t count) {
          const Vec beta = args.beta == nullptr ? set1(0) : load_n(args.beta + i, count);
          const Vec v = normal(load_n(x + i, count), load_n(args.gamma + i, count), beta);
          store_n(y + i, v, count);
          if (y16 != nullptr) store_bf16_n(y16 + i, v, count);
        });
    if (args.y8 != nullptr) {
      quantize_u8(y, n, args.y8 + row * args.ldy8, args.y8_scale + row, args.y8_zero + row);
    }
  }
}

inline void pack_pairs_bf16(const uint16_t* rows, int64_t ld, int64_t k, int64_t n, int64_t words,
                            int64_t cols, uint16_t* out) {
  for (int64_t i = 0; i < words; ++i) {
    const uint16_t* even = 2 * i < k ? rows + 2 * i * ld : nullptr;
    const uint16_t* odd = 2 * i + 1 < k ? rows + (2 * i + 1) * ld : nullptr;
    for (int64_t j = 0; j < cols; j += kLanes) {
      const int64_t lanes = n - j;
      store_bf16_pairs(out + (i * cols + j) * 2, lanes > 0 && even != nullptr ? even + j : nullptr,
                       lanes > 0 && odd != nullptr ? odd + j : nullptr, lanes);
    }
  }
}

// x = exp(scale * (x - max x)) over its sum; scale > 0.
inline void softmax_row(float* x, int64_t n, float scale) {
  const Vec lowest = set1(-3e38f);
  Vec highs = lowest;
  for_vectors(
      n, [&](int64_t i) { highs = vmax(highs, load(x + i)); },
      [&](int64_t i, int64_t count) {
        highs = vmax(highs, select_n(load_n(x + i, count), lowest, count));
      });
  const Vec highest = set1(reduce_max(highs));
  const Vec factor = set1(scale * kLog2E);
  Vec sums = set1(0);
  for_vectors(
      n,
      [&](int64_t i) {
        const Vec e = exp2_vec(mul(sub(load(x + i), highest), factor));
        sums = add(sums, e);
        store(x + i, e);
      },
      [&](int64_t i, int64_t count) {
        const Vec e = exp2_vec(mul(sub(load_n(x + i, count), highest), factor));
        sums = add(sums, select_n(e, set1(0), count));
        store_n(x + i, e, count);
      });
  const Vec inverse = set1(1.0f / reduce_add(sums));
  for_vectors(
      n, [&](int64_t i) { store(x + i, mul(load(x + i), inverse)); },
      [&](int64_t i, int64_t count) { store_n(x + i, mul(load_n(x + i, count), inverse), count); });
}

struct FromF32 {
  using Element = float;
  static Vec get(const float* p) { return load(p); }
  static Vec get_n(const float* p, int64_t n) { return load_n(p, n); }
};
struct FromBf16 {
  using Element = uint16_t;
  static Vec get(const uint16_t* p) { return load_bf16(p); }
  static Vec get_n(const uint16_t* p, int64_t n) { return load_bf16_n(p, n); }
};

template <class From>
void cached_attention(const CachedAttentionArgs& args) {
  const auto* k = static_cast<const typename From::Element*>(args.k);
  const auto* v = static_cast<const typename From::Element*>(args.v);
  for (int64_t key = 0; key < args.keys; ++key) {
    const auto* row = k + args.index[key] * args.stride;
    Vec sum = set1(0);
    for_vectors(
        args.head_dim, [&](int64_t i) { sum = fma(load(args.q + i), From::get(row + i), sum); },
        [&](int64_t i, int64_t count) {
          sum = fma(load_n(args.q + i, count), From::get_n(row + i, count), sum);
        });
    args.scores[key] = reduce_add(sum);
  }
  softmax_row(args.scores, args.keys, args.scale);
  // Four vectors of the output at a time stay in registers while the keys pass by.
  constexpr int kStrip = 4;
  int64_t first = 0;
  for (; first + kStrip * kLanes <= args.head_dim; first += kStrip * kLanes) {
    Vec sum[kStrip];
    SOTTO_UNROLL
    for (int s = 0; s < kStrip; ++s)
      sum[s] = set1(0);
    for (int64_t key = 0; key < args.keys; ++key) {
      const auto* row = v + args.index[key] * args.stride + first;
      const Vec p = set1(args.scores[key]);
      SOTTO_UNROLL
      for (int s = 0; s < kStrip; ++s)
        sum[s] = fma(p, From::get(row + s * kLanes), sum[s]);
    }
    SOTTO_UNROLL
    for (int s = 0; s < kStrip; ++s)
      store(args.out + first + s * kLanes, sum[s]);
  }
  for (; first < args.head_dim; first += kLanes) {
    const int64_t count = args.head_dim - first;
    Vec sum = set1(0);
    for (int64_t key = 0; key < args.keys; ++key) {
      const auto* row = v + args.index[key] * args.stride + first;
      sum = fma(set1(args.scores[key]), count >= kLanes ? From::get(row) : From::get_n(row, count),
                sum);
    }
    count >= kLanes ? store(args.out + first, sum) : store_n(args.out + first, sum, count);
  }
}

}  // namespace
}  // namespace sotto::kernels

#endif  // SOTTO_KERNELS_X86_64_ROWS_INL_H_
