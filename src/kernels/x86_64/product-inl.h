// The inner loop of every product, and the element types it runs on.
//
// A type T gives
// - Weights, Factor, Sum: what a vector of packed words, one broadcast word of A and a sum are held
// in;
// - kRows: rows of a full tile, where kRows x 2 sums and one vector of weights each fit the
// registers;
// - kDepth, zero(), weights(p), factor(p), dot(sum, factor, weights);
// - value(sum, args, row, col): the f32 vector of a GEMM before its epilogue.
#ifndef SOTTO_KERNELS_X86_64_PRODUCT_INL_H_
#define SOTTO_KERNELS_X86_64_PRODUCT_INL_H_

#include "kernels/gemm.h"
#include "kernels/x86_64/vec-inl.h"

namespace sotto::kernels {
namespace {

constexpr int64_t kPanel = 2 * kLanes;  // columns of a panel

template <class T, int kRows, int kVecs>
inline void clear(typename T::Sum (&sum)[kRows][kVecs]) {
  SOTTO_UNROLL
  for (int r = 0; r < kRows; ++r) {
    SOTTO_UNROLL
    for (int v = 0; v < kVecs; ++v)
      sum[r][v] = T::zero();
  }
}

// sum[r][v] += the products of `words` words: word i of row r lies at a[r * kRowStride + i *
// kStep], those of the columns in panels of kPanel, `panel_words` apart.
template <class T, int kRows, int kVecs, int kRowStride, int kStep>
SOTTO_INLINE void accumulate(typename T::Sum (&sum)[kRows][kVecs], const uint32_t* a,
                             const uint32_t* w, int64_t panel_words, int64_t words) {
  for (int64_t i = 0; i < words; ++i) {
    typename T::Weights weights[kVecs];
    SOTTO_UNROLL
    for (int v = 0; v < kVecs; ++v)
      weights[v] = T::weights(w + (v / 2) * panel_words + (v % 2) * kLanes);
    SOTTO_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const typename T::Factor factor = T::factor(a + r * kRowStride);
      SOTTO_UNROLL
      for (int v = 0; v < kVecs; ++v)
        sum[r][v] = T::dot(sum[r][v], factor, weights[v]);
    }
    w += kPanel;
    a += kStep;
  }
}

inline int32_t load_word(const uint32_t* p) {
  int32_t v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

struct F32 {
  using Weights = Vec;
  using Factor = Vec;
  using Sum = Vec;
  static constexpr int kRows = kLanes == 16 ? 12 : 6;
  static constexpr int64_t kDepth = gemm_depth(GemmType::kF32);
  static Sum zero() { return set1(0); }
  static Weights weights(const uint32_t* p) { return as_vec(load_words_n(p, kLanes)); }
  static Factor factor(const uint32_t* p) { return as_vec(set1_word(load_word(p))); }
  static Sum dot(Sum s, Factor f, Weights w) { return fma(f, w, s); }
  static Vec value(Sum s, const GemmArgs&, int64_t, int64_t) { return s; }
};

#if defined(__AVX512BF16__)
struct Bf16Pairs {
  using Weights = __m512bh;
  using Factor = __m512bh;
  using Sum = Vec;
  static constexpr int kRows = 12;
  static Weights weights(const uint32_t* p) {
    return reinterpret_cast<__m512bh>(_mm512_loadu_si512(p));
  }
  static Factor factor(const uint32_t* p) {
    return reinterpret_cast<__m512bh>(_mm512_set1_epi32(load_word(p)));
  }
  static Sum dot(Sum s, Factor f, Weights w) { return _mm512_dpbf16_ps(s, f, w); }
#else
// Without the instruction: both halves of a word widened to f32.
struct Bf16Pairs {
  struct Weights {
    Vec low, high;
  };
  using Factor = Weights;
  using Sum = Vec;
  static constexpr int kRows = kLanes == 16 ? 12 : 4;
  static Weights widen(Words pairs) { return {low_bf16(pairs), high_bf16(pairs)}; }
  static Weights weights(const uint32_t* p) { return widen(load_words_n(p, kLanes)); }
  static Factor factor(const uint32_t* p) { return widen(set1_word(load_word(p))); }
  static Sum dot(Sum s, const Factor& f, const Weights& w) {
    return fma(f.high, w.high, fma(f.low, w.low, s));
  }
#endif
  static constexpr int64_t kDepth = gemm_depth(GemmType::kBf16);
  static Sum zero() {
    return set1(0);
  }
  static Vec value(Sum s, const GemmArgs&, int64_t, int64_t) {
    return s;
  }
};

// The f32 value of an int8 product.
inline Vec scaled(Words sum, const GemmArgs& args, int64_t row, int64_t col) {
  const int64_t n = args.n - col;
  const Words weight_sum = load_words_n(reinterpret_cast<const uint32_t*>(args.w_sum + col), n);
  const Vec weight_scale = n >= kLanes ? load(args.w_scale + col) : load_n(args.w_scale + col, n);
  const Words centred = sub_words(sum, mul_words(weight_sum, set1_word(args.a_zero[row])));
  return mul(words_to_f32(centred), mul(weight_scale, set1(args.a_scale[row])));
}

#if defined(__AVX512VNNI__)
struct Int8Quads {
  using Weights = __m512i;
  using Factor = __m512i;
  using Sum = __m512i;
  static constexpr int kRows = 12;
  static Sum zero() { return _mm512_setzero_si512(); }
  static Weights weights(const uint32_t* p) { return _mm512_loadu_si512(p); }
  static Factor factor(const uint32_t* p) { return _mm512_set1_epi32(load_word(p)); }
  static Sum dot(Sum s, Factor f, Weights w) { return _mm512_dpbusd_epi32(s, f, w); }
  static Vec value(Sum s, const GemmArgs& args, int64_t row, int64_t col) {
    return scaled(s, args, row, col);
  }
#else
// Without the instruction: 16-bit products, whose sums of two cannot overflow 32 bits. A sum is
// held as two vectors, one for each half of the columns, with two partial sums a column.
struct Int8Quads {
  struct Weights {
    Words first, second;
  };
  using Factor = Words;
  using Sum = Weights;
  static constexpr int kRows = kLanes == 16 ? 6 : 3;
  static Sum zero() { return {zero_words(), zero_words()}; }
  static Weights weights(const uint32_t* p) { return {widen_s8(p), widen_s8(p + kLanes / 2)}; }
  static Factor factor(const uint32_t* p) { return repeat_u8(load_word(p)); }
  static Sum dot(const Sum& s, Factor f, const Weights& w) {
    return {add_words(s.first, madd_s16(f, w.first)), add_words(s.second, madd_s16(f, w.second))};
  }
  static Vec value(const Sum& s, const GemmArgs& args, int64_t row, int64_t col) {
    return scaled(add_pairs(s.first, s.second), args, row, col);
  }
#endif
  static constexpr int64_t kDepth = gemm_depth(GemmType::kInt8);
};

}  // namespace
}  // namespace sotto::kernels

#endif  // SOTTO_KERNELS_X86_64_PRODUCT_INL_H_
