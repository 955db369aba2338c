// f32 vectors of AVX-512. Everything has internal linkage: each including file is compiled with its
// own flags.
#ifndef SOTTO_KERNELS_X86_64_VEC_AVX512_INL_H_
#define SOTTO_KERNELS_X86_64_VEC_AVX512_INL_H_

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#if defined(__clang__)
#define SOTTO_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SOTTO_UNROLL _Pragma("GCC unroll 16")
#endif
#define SOTTO_INLINE inline __attribute__((always_inline))

namespace sotto::kernels {
namespace {

using Vec = __m512;
constexpr int kLanes = 16;

inline __mmask16 first_lanes(int64_t n) {
  return static_cast<__mmask16>((1U << n) - 1U);
}

inline Vec set1(float v) {
  return _mm512_set1_ps(v);
}
inline Vec load(const float* p) {
  return _mm512_loadu_ps(p);
}
inline void store(float* p, Vec v) {
  _mm512_storeu_ps(p, v);
}
// The first n < kLanes lanes; load gives zeros in the others.
inline Vec load_n(const float* p, int64_t n) {
  return _mm512_maskz_loadu_ps(first_lanes(n), p);
}
inline void store_n(float* p, Vec v, int64_t n) {
  _mm512_mask_storeu_ps(p, first_lanes(n), v);
}
inline Vec add(Vec a, Vec b) {
  return _mm512_add_ps(a, b);
}
inline Vec sub(Vec a, Vec b) {
  return _mm512_sub_ps(a, b);
}
inline Vec mul(Vec a, Vec b) {
  return _mm512_mul_ps(a, b);
}
inline Vec fma(Vec a, Vec b, Vec c) {
  return _mm512_fmadd_ps(a, b, c);
}
inline Vec vmax(Vec a, Vec b) {
  return _mm512_max_ps(a, b);
}
inline Vec vmin(Vec a, Vec b) {
  return _mm512_min_ps(a, b);
}
inline Vec vabs(Vec a) {
  return _mm512_abs_ps(a);
}
inline Vec round_even(Vec a) {
  return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
inline float reduce_add(Vec a) {
  return _mm512_reduce_add_ps(a);
}
inline float reduce_max(Vec a) {
  return _mm512_reduce_max_ps(a);
}
inline float reduce_min(Vec a) {
  return _mm512_reduce_min_ps(a);
}
inline float first_lane(Vec a) {
  return _mm512_cvtss_f32(a);
}
inline float sqrt1(float a) {
  return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(a)));
}
// a where lane < n, else b.
inline Vec select_n(Vec a, Vec b, int64_t n) {
  return _mm512_mask_blend_ps(first_lanes(n), b, a);
}
inline Vec scale_by_power(Vec a, Vec exponent) {
  return _mm512_scalef_ps(a, exponent);
}

inline Vec from_bf16(__m256i bits) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}
inline Vec load_bf16(const void* p) {
  return from_bf16(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
}
inline Vec load_bf16_n(const void* p, int64_t n) {
  return from_bf16(_mm256_maskz_loadu_epi16(first_lanes(n), p));
}
inline Vec load_f16(const void* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
}
inline Vec load_f16_n(const void* p, int64_t n) {
  return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(first_lanes(n), p));
}

inline __m256i to_bf16_bits(Vec v) {
#if defined(__AVX512BF16__)
  return reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(v));
#else
  const __m512i u = _mm512_castps_si512(v);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(u, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
  const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
  const __m512i quiet = _mm512_or_si512(u, _mm512_set1_epi32(0x400000));
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_mask_blend_epi32(nan, rounded, quiet), 16));
#endif
}
inline void store_bf16(uint16_t* p, Vec v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), to_bf16_bits(v));
}
inline void store_bf16_n(uint16_t* p, Vec v, int64_t n) {
  _mm256_mask_storeu_epi16(p, first_lanes(n), to_bf16_bits(v));
}

// Values are integers in range already.
inline void store_u8(uint8_t* p, Vec v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtusepi32_epi8(_mm512_cvtps_epi32(v)));
}
inline void store_u8_n(uint8_t* p, Vec v, int64_t n) {
  _mm_mask_storeu_epi8(p, first_lanes(n), _mm512_cvtusepi32_epi8(_mm512_cvtps_epi32(v)));
}
inline void store_s8(int8_t* p, Vec v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(v)));
}
inline void store_s8_n(int8_t* p, Vec v, int64_t n) {
  _mm_mask_storeu_epi8(p, first_lanes(n), _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(v)));
}

using Words = __m512i;
inline Words load_words_n(const uint32_t* p, int64_t n) {
  return n >= kLanes ? _mm512_loadu_si512(p) : _mm512_maskz_loadu_epi32(first_lanes(n), p);
}
inline void store_words_n(uint32_t* p, Words v, int64_t n) {
  _mm512_mask_storeu_epi32(p, n >= kLanes ? __mmask16{0xffff} : first_lanes(n), v);
}
inline Words zero_words() {
  return _mm512_setzero_si512();
}
inline Words set1_word(int32_t v) {
  return _mm512_set1_epi32(v);
}
inline Words add_words(Words a, Words b) {
  return _mm512_add_epi32(a, b);
}
inline Words sub_words(Words a, Words b) {
  return _mm512_sub_epi32(a, b);
}
inline Words mul_words(Words a, Words b) {
  return _mm512_mullo_epi32(a, b);
}
inline Vec words_to_f32(Words a) {
  return _mm512_cvtepi32_ps(a);
}
inline Vec as_vec(Words a) {
  return _mm512_castsi512_ps(a);
}

// The halves of a word that holds two bf16.
inline Vec low_bf16(Words a) {
  return as_vec(_mm512_slli_epi32(a, 16));
}
inline Vec high_bf16(Words a) {
  return as_vec(_mm512_and_si512(a, set1_word(static_cast<int32_t>(0xffff0000U))));
}

// Half a vector's words of four s8 as s16; one word of four u8 as s16, repeated; sums of two s16
// products.
inline Words widen_s8(const uint32_t* p) {
  return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
inline Words repeat_u8(int32_t word) {
  return _mm512_cvtepu8_epi16(_mm256_set1_epi32(word));
}
inline Words madd_s16(Words a, Words b) {
  return _mm512_madd_epi16(a, b);
}
// a0 + a1, a2 + a3, ..., b0 + b1, ...
inline Words add_pairs(Words a, Words b) {
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
  return _mm512_add_epi32(_mm512_permutex2var_epi32(a, even, b),
                          _mm512_permutex2var_epi32(a, odd, b));
}

// r[i] lane j <-> r[j] lane i.
inline void transpose(Words (&r)[kLanes]) {
  Words t[kLanes];
  SOTTO_UNROLL
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
  SOTTO_UNROLL
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  // Now r[4 g + c] holds, in each 128-bit part p, column 4 p + c of rows 4 g..4 g + 3.
  SOTTO_UNROLL
  for (int c = 0; c < 4; ++c) {
    const Words a = _mm512_shuffle_i32x4(r[c], r[4 + c], 0x88);
    const Words b = _mm512_shuffle_i32x4(r[c], r[4 + c], 0xdd);
    const Words d = _mm512_shuffle_i32x4(r[8 + c], r[12 + c], 0x88);
    const Words e = _mm512_shuffle_i32x4(r[8 + c], r[12 + c], 0xdd);
    t[c] = _mm512_shuffle_i32x4(a, d, 0x88);
    t[8 + c] = _mm512_shuffle_i32x4(a, d, 0xdd);
    t[4 + c] = _mm512_shuffle_i32x4(b, e, 0x88);
    t[12 + c] = _mm512_shuffle_i32x4(b, e, 0xdd);
  }
  SOTTO_UNROLL
  for (int i = 0; i < 16; ++i)
    r[i] = t[i];
}

// Lane i: elements 2 i and 2 i + 1 of a column of two bf16 rows; a null row and columns beyond n
// are zero.
inline void store_bf16_pairs(uint16_t* out, const uint16_t* even, const uint16_t* odd, int64_t n) {
  const __mmask16 lanes = n >= kLanes ? __mmask16{0xffff} : first_lanes(n);
  const auto row = [lanes](const uint16_t* p) {
    return p == nullptr ? zero_words() : _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, p));
  };
  _mm512_storeu_si512(out, _mm512_or_si512(row(even), _mm512_slli_epi32(row(odd), 16)));
}

}  // namespace
}  // namespace sotto::kernels

#endif  // SOTTO_KERNELS_X86_64_VEC_AVX512_INL_H_
