// The attention of attention.h over register tiles, for the floating-point types of product-inl.h.
#ifndef SOTTO_KERNELS_X86_64_ATTENTION_INL_H_
#define SOTTO_KERNELS_X86_64_ATTENTION_INL_H_

#include "kernels/attention.h"
#include "kernels/x86_64/product-inl.h"
#include "kernels/x86_64/rows-inl.h"
#include "kernels/x86_64/transpose-inl.h"

namespace sotto::kernels {
namespace {

// Scores of a tile of rows and this many keys, with their probabilities, stay in the first-level
// cache.
constexpr int kBlockKeys = 256;
// Below every score, yet finite: differences stay numbers.
constexpr float kLowest = -1e30f;

inline void store_probability(float* p, Vec v) {
  store(p, v);
}
inline void store_probability(uint16_t* p, Vec v) {
  store_bf16(p, v);
}
template <class T>
struct ProbabilityOf {
  using Type = float;
};
template <>
struct ProbabilityOf<Bf16Pairs> {
  using Type = uint16_t;
};

// What one tile of query rows carries along the keys.
template <class T, int kRows>
struct TileState {
  using Probability = typename ProbabilityOf<T>::Type;
  alignas(64) uint32_t q[kMaxHeadDim / T::kDepth * kRows];  // interleaved
  alignas(64) float scores[kRows][kBlockKeys];
  alignas(64) Probability p[kRows][kBlockKeys];
  alignas(64) float out[kRows][kMaxHeadDim];  // sums of p * v
  alignas(64) float block_highest[kRows][kLanes];
  float highest[kRows];
  alignas(64) float sum[kRows][kLanes];
};

// Few rows take two panels at once, as in gemm-inl.h.
template <class T, int kRows>
constexpr int tile_vectors() {
  return kRows <= T::kRows / 2 ? 4 : 2;
}

// scores = q k^T for the keys of kVecs vectors from `key` on, those beyond `keys` set to kLowest.
template <class T, int kRows, int kVecs>
inline void score_panels(const uint32_t* q, const uint32_t* k, int64_t words, int64_t key,
                         int64_t keys, float* scores, int64_t ld, float* highest) {
  typename T::Sum sum[kRows][kVecs];
  clear<T>(sum);
  accumulate<T, kRows, kVecs, 1, kRows>(sum, q, k + key * words, words * kPanel, words);
  if (key + kVecs * kLanes > keys) {
    SOTTO_UNROLL
    for (int v = 0; v < kVecs; ++v) {
      const int64_t left = keys - key - v * kLanes;
      SOTTO_UNROLL
      for (int r = 0; r < kRows; ++r) {
        if (left < kLanes)
          sum[r][v] = left <= 0 ? set1(kLowest) : select_n(sum[r][v], set1(kLowest), left);
      }
    }
  }
  SOTTO_UNROLL
  for (int r = 0; r < kRows; ++r) {
    Vec high = load(highest + r * kLanes);
    SOTTO_UNROLL
    for (int v = 0; v < kVecs; ++v) {
      store(scores + r * ld + v * kLanes, sum[r][v]);
      high = vmax(high, sum[r][v]);
    }
    store(highest + r * kLanes, high);
  }
}

// The scores of one block of keys, a multiple of a panel's width of them stored; returns that
// number.
template <class T, int kRows>
inline int64_t score_block(const AttentionArgs& args, int64_t first, TileState<T, kRows>& s) {
  const int64_t words = args.head_dim / T::kDepth;
  const int64_t left = (args.keys - first + kPanel - 1) / kPanel * kPanel;
  const int64_t count = left < kBlockKeys ? left : kBlockKeys;
  const auto* k = static_cast<const uint32_t*>(args.k) + first * words;
  constexpr int kVecs = tile_vectors<T, kRows>();
  int64_t key = 0;
  for (; key + kVecs * kLanes <= count; key += kVecs * kLanes) {
    score_panels<T, kRows, kVecs>(s.q, k, words, key, args.keys - first, s.scores[0] + key,
                                  kBlockKeys, s.block_highest[0]);
  }
  for (; key < count; key += kPanel) {
    score_panels<T, kRows, 2>(s.q, k, words, key, args.keys - first, s.scores[0] + key, kBlockKeys,
                              s.block_highest[0]);
  }
  return count;
}

// p = exp(scale * (score - highest)) for one row and block; `shrink` is what sums so far are worth.
template <class T, int kRows>
inline float row_probabilities(TileState<T, kRows>& s, int r, int64_t count, float factor) {
  float highest = reduce_max(load(s.block_highest[r]));
  if (highest < s.highest[r]) highest = s.highest[r];
  const float shrink = first_lane(exp2_vec(set1((s.highest[r] - highest) * factor)));
  s.highest[r] = highest;
  const Vec scale = set1(factor);
  const Vec offset = set1(-highest * factor);
  Vec sum = mul(load(s.sum[r]), set1(shrink));
  for (int64_t i = 0; i < count; i += kLanes) {
    const Vec e = exp2_vec(fma(load(s.scores[r] + i), scale, offset));
    sum = add(sum, e);
    store_probability(s.p[r] + i, e);
  }
  store(s.sum[r], sum);
  store(s.block_highest[r], set1(kLowest));
  return shrink;
}

// out = out * shrink + p v for kVecs vectors of features from `feature` on.
template <class T, int kRows, int kVecs>
inline void weigh_values(TileState<T, kRows>& s, const float* shrink, const uint32_t* v,
                         int64_t panel_words, int64_t words, int64_t feature) {
  typename T::Sum sum[kRows][kVecs];
  SOTTO_UNROLL
  for (int r = 0; r < kRows; ++r) {
    const Vec factor = set1(shrink[r]);
    SOTTO_UNROLL
    for (int i = 0; i < kVecs; ++i)
      sum[r][i] = mul(load(s.out[r] + feature + i * kLanes), factor);
  }
  constexpr int kRowWords = kBlockKeys / static_cast<int>(T::kDepth);
  accumulate<T, kRows, kVecs, kRowWords, 1>(sum, reinterpret_cast<const uint32_t*>(s.p[0]), v,
                                            panel_words, words);
  SOTTO_UNROLL
  for (int r = 0; r < kRows; ++r) {
    SOTTO_UNROLL
    for (int i = 0; i < kVecs; ++i)
      store(s.out[r] + feature + i * kLanes, sum[r][i]);
  }
}

template <class T, int kRows>
inline void start_tile(const AttentionArgs& args, int64_t row, TileState<T, kRows>& s) {
  const int64_t words = args.head_dim / T::kDepth;
  const int64_t ld = args.ldq / T::kDepth;
  transpose_words(static_cast<const uint32_t*>(args.q) + row * ld, ld, kRows, words, kRows, s.q);
  for (int r = 0; r < kRows; ++r) {
    store(s.block_highest[r], set1(kLowest));
    store(s.sum[r], set1(0));
    s.highest[r] = kLowest;
    for (int64_t i = 0; i < args.head_dim; i += kLanes)
      store(s.out[r] + i, set1(0));
  }
}

template <class T, int kRows>
inline void finish_tile(const AttentionArgs& args, int64_t row, const TileState<T, kRows>& s) {
  for (int r = 0; r < kRows; ++r) {
    const Vec inverse = set1(1.0f / reduce_add(load(s.sum[r])));
    for (int64_t i = 0; i < args.head_dim; i += kLanes) {
      const Vec v = mul(load(s.out[r] + i), inverse);
      const int64_t n = args.head_dim - i;
      if (args.out != nullptr) {
        float* p = args.out + (row + r) * args.ld_out + i;
        n >= kLanes ? store(p, v) : store_n(p, v, n);
      }
      if (args.out16 != nullptr) {
        uint16_t* p = args.out16 + (row + r) * args.ld_out16 + i;
        n >= kLanes ? store_bf16(p, v) : store_bf16_n(p, v, n);
      }
    }
  }
}

// Online softmax over blocks of keys. Source: https://arxiv.org/abs/1805.02867,
// https://arxiv.org/abs/2205.14135.
template <class T, int kRows>
void attend_tile(const AttentionArgs& args, int64_t row) {
  TileState<T, kRows> s;
  start_tile(args, row, s);
  const float factor = args.scale * kLog2E;
  const int64_t panel_words = (args.keys + kPanel - 1) / kPanel * kPanel / T::kDepth * kPanel;
  constexpr int kVecs = tile_vectors<T, kRows>();
  for (int64_t first = 0; first < args.keys; first += kBlockKeys) {
    const int64_t count = score_block(args, first, s);
    float shrink[kRows];
    for (int r = 0; r < kRows; ++r)
      shrink[r] = row_probabilities(s, r, count, factor);
    const auto* v = static_cast<const uint32_t*>(args.v) + first / T::kDepth * kPanel;
    int64_t feature = 0;
    if constexpr (kVecs == 4) {
      for (; feature + kPanel < args.head_dim; feature += 2 * kPanel, v += 2 * panel_words) {
        weigh_values<T, kRows, 4>(s, shrink, v, panel_words, count / T::kDepth, feature);
      }
    }
    for (; feature < args.head_dim; feature += kPanel, v += panel_words) {
      weigh_values<T, kRows, 2>(s, shrink, v, panel_words, count / T::kDepth, feature);
    }
  }
  finish_tile(args, row, s);
}

template <class T, int kRows>
void attend_rows(const AttentionArgs& args, int64_t row, int64_t rows) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return attend_rows<T, kRows - 1>(args, row, rows);
  }
  attend_tile<T, kRows>(args, row);
}

template <class T>
void attend(const AttentionArgs& args) {
  for (int64_t row = 0; row < args.rows; row += T::kRows)
    attend_rows<T, T::kRows>(args, row, args.rows - row);
}

template <class T>
void attention_probabilities(const AttentionArgs& args, float* scores, int64_t ld_scores) {
  // One row at a time: asked for by word alignment only.
  TileState<T, 1> s;
  for (int64_t row = 0; row < args.rows; ++row) {
    start_tile(args, row, s);
    float* out = scores + row * ld_scores;
    for (int64_t first = 0; first < args.keys; first += kBlockKeys) {
      score_block(args, first, s);
      const int64_t count = args.keys - first < kBlockKeys ? args.keys - first : kBlockKeys;
      for_vectors(
          count, [&](int64_t i) { store(out + first + i, load(s.scores[0] + i)); },
          [&](int64_t i, int64_t n) { store_n(out + first + i, load(s.scores[0] + i), n); });
    }
    softmax_row(out, args.keys, args.scale);
  }
}

}  // namespace
}  // namespace sotto::kernels

#endif  // SOTTO_KERNELS_X86_64_ATTENTION_INL_H_
