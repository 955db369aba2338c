// f32 vectors of AVX2 with FMA and F16C, same names as vec_avx512-inl.h. Everything has internal
// linkage.
#ifndef SOTTO_KERNELS_X86_64_VEC_AVX2_INL_H_
#define SOTTO_KERNELS_X86_64_VEC_AVX2_INL_H_

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

using Vec = __m256;
constexpr int kLanes = 8;

inline __m256i first_lanes(int64_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

inline Vec set1(float v) {
  return _mm256_set1_ps(v);
}
inline Vec load(const float* p) {
  return _mm256_loadu_ps(p);
}
inline void store(float* p, Vec v) {
  _mm256_storeu_ps(p, v);
}
// The first n < kLanes lanes; load gives zeros in the others.
inline Vec load_n(const float* p, int64_t n) {
  return _mm256_maskload_ps(p, first_lanes(n));
}
inline void store_n(float* p, Vec v, int64_t n) {
  _mm256_maskstore_ps(p, first_lanes(n), v);
}
inline Vec add(Vec a, Vec b) {
  return _mm256_add_ps(a, b);
}
inline Vec sub(Vec a, Vec b) {
  return _mm256_sub_ps(a, b);
}
inline Vec mul(Vec a, Vec b) {
  return _mm256_mul_ps(a, b);
}
inline Vec fma(Vec a, Vec b, Vec c) {
  return _mm256_fmadd_ps(a, b, c);
}
inline Vec vmax(Vec a, Vec b) {
  return _mm256_max_ps(a, b);
}
inline Vec vmin(Vec a, Vec b) {
  return _mm256_min_ps(a, b);
}
inline Vec vabs(Vec a) {
  return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}
inline Vec round_even(Vec a) {
  return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
inline float first_lane(Vec a) {
  return _mm256_cvtss_f32(a);
}
inline float sqrt1(float a) {
  return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(a)));
}

inline __m128 fold(__m128 (*op)(__m128, __m128), Vec a) {
  __m128 x = op(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  x = op(x, _mm_movehl_ps(x, x));
  return op(x, _mm_shuffle_ps(x, x, 1));
}
inline float reduce_add(Vec a) {
  return _mm_cvtss_f32(fold([](__m128 x, __m128 y) { return _mm_add_ps(x, y); }, a));
}
inline float reduce_max(Vec a) {
  return _mm_cvtss_f32(fold([](__m128 x, __m128 y) { return _mm_max_ps(x, y); }, a));
}
inline float reduce_min(Vec a) {
  return _mm_cvtss_f32(fold([](__m128 x, __m128 y) { return _mm_min_ps(x, y); }, a));
}
// a where lane < n, else b.
inline Vec select_n(Vec a, Vec b, int64_t n) {
  return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(first_lanes(n)));
}

// a * 2^exponent; the exponent is clamped so that the result is 0 rather than subnormal below
// 2^-126.
inline Vec scale_by_power(Vec a, Vec exponent) {
  const __m256i e = _mm256_cvtps_epi32(vmax(vmin(exponent, set1(127.0f)), set1(-127.0f)));
  const __m256i bits = _mm256_slli_epi32(_mm256_add_epi32(e, _mm256_set1_epi32(127)), 23);
  return mul(a, _mm256_castsi256_ps(bits));
}

// n two-byte values, n < 8, the others zero: there is no masked load for them before AVX-512.
inline __m128i load_halves_n(const void* p, int64_t n) {
  alignas(16) unsigned char bytes[16] = {};
  const auto* from = static_cast<const unsigned char*>(p);
  for (int64_t i = 0; i < 2 * n; ++i)
    bytes[i] = from[i];
  return _mm_load_si128(reinterpret_cast<const __m128i*>(bytes));
}
inline Vec from_bf16(__m128i bits) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}
inline Vec load_bf16(const void* p) {
  return from_bf16(_mm_loadu_si128(static_cast<const __m128i*>(p)));
}
inline Vec load_bf16_n(const void* p, int64_t n) {
  return from_bf16(load_halves_n(p, n));
}
inline Vec load_f16(const void* p) {
  return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(p)));
}
inline Vec load_f16_n(const void* p, int64_t n) {
  return _mm256_cvtph_ps(load_halves_n(p, n));
}

// The low 16 bits of each 32-bit lane.
inline __m128i narrow_halves(__m256i v) {
  const __m256i packed = _mm256_packus_epi32(v, v);
  return _mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0x08));
}
inline __m128i to_bf16_bits(Vec v) {
  const __m256i u = _mm256_castps_si256(v);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(u, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
  const __m256i quiet = _mm256_or_si256(u, _mm256_set1_epi32(0x400000));
  return narrow_halves(_mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, nan), 16));
}
inline void store_halves_n(uint16_t* p, __m128i v, int64_t n) {
  alignas(16) uint16_t halves[8];
  _mm_store_si128(reinterpret_cast<__m128i*>(halves), v);
  for (int64_t i = 0; i < n; ++i)
    p[i] = halves[i];
}
inline void store_bf16(uint16_t* p, Vec v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), to_bf16_bits(v));
}
inline void store_bf16_n(uint16_t* p, Vec v, int64_t n) {
  store_halves_n(p, to_bf16_bits(v), n);
}

// Values are integers in range already.
inline void store_u8_n(uint8_t* p, Vec v, int64_t n) {
  const __m128i halves = narrow_halves(_mm256_cvtps_epi32(v));
  alignas(16) uint8_t bytes[16];
  _mm_store_si128(reinterpret_cast<__m128i*>(bytes), _mm_packus_epi16(halves, halves));
  for (int64_t i = 0; i < n; ++i)
    p[i] = bytes[i];
}
inline void store_u8(uint8_t* p, Vec v) {
  const __m128i halves = narrow_halves(_mm256_cvtps_epi32(v));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packus_epi16(halves, halves));
}
inline __m128i to_s8(Vec v) {
  const __m256i packed = _mm256_packs_epi32(_mm256_cvtps_epi32(v), _mm256_setzero_si256());
  const __m128i halves = _mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0x08));
  return _mm_packs_epi16(halves, halves);
}
inline void store_s8(int8_t* p, Vec v) {
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), to_s8(v));
}
inline void store_s8_n(int8_t* p, Vec v, int64_t n) {
  alignas(16) int8_t bytes[16];
  _mm_store_si128(reinterpret_cast<__m128i*>(bytes), to_s8(v));
  for (int64_t i = 0; i < n; ++i)
    p[i] = bytes[i];
}

using Words = __m256i;
inline Words load_words_n(const uint32_t* p, int64_t n) {
  return n >= kLanes ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))
                     : _mm256_maskload_epi32(reinterpret_cast<const int*>(p), first_lanes(n));
}
inline void store_words_n(uint32_t* p, Words v, int64_t n) {
  if (n >= kLanes) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
  } else {
    _mm256_maskstore_epi32(reinterpret_cast<int*>(p), first_lanes(n), v);
  }
}
inline Words zero_words() {
  return _mm256_setzero_si256();
}
inline Words set1_word(int32_t v) {
  return _mm256_set1_epi32(v);
}
inline Words add_words(Words a, Words b) {
  return _mm256_add_epi32(a, b);
}
inline Words sub_words(Words a, Words b) {
  return _mm256_sub_epi32(a, b);
}
inline Words mul_words(Words a, Words b) {
  return _mm256_mullo_epi32(a, b);
}
inline Vec words_to_f32(Words a) {
  return _mm256_cvtepi32_ps(a);
}
inline Vec as_vec(Words a) {
  return _mm256_castsi256_ps(a);
}

// The halves of a word that holds two bf16.
inline Vec low_bf16(Words a) {
  return as_vec(_mm256_slli_epi32(a, 16));
}
inline Vec high_bf16(Words a) {
  return as_vec(_mm256_and_si256(a, set1_word(static_cast<int32_t>(0xffff0000U))));
}

// Half a vector's words of four s8 as s16; one word of four u8 as s16, repeated; sums of two s16
// products.
inline Words widen_s8(const uint32_t* p) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
inline Words repeat_u8(int32_t word) {
  return _mm256_cvtepu8_epi16(_mm_set1_epi32(word));
}
inline Words madd_s16(Words a, Words b) {
  return _mm256_madd_epi16(a, b);
}
// a0 + a1, a2 + a3, ..., b0 + b1, ...
inline Words add_pairs(Words a, Words b) {
  return _mm256_permute4x64_epi64(_mm256_hadd_epi32(a, b), 0xd8);
}

// r[i] lane j <-> r[j] lane i.
inline void transpose(Words (&r)[kLanes]) {
  Words t[kLanes];
  SOTTO_UNROLL
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm256_unpackhi_epi32(r[i], r[i + 1]);
  }
  SOTTO_UNROLL
  for (int i = 0; i < 8; i += 4) {
    r[i] = _mm256_unpacklo_epi64(t[i], t[i + 2]);
    r[i + 1] = _mm256_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm256_unpacklo_epi64(t[i + 1], t[i + 3]);
    r[i + 3] = _mm256_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  SOTTO_UNROLL
  for (int c = 0; c < 4; ++c) {
    t[c] = _mm256_permute2x128_si256(r[c], r[4 + c], 0x20);
    t[4 + c] = _mm256_permute2x128_si256(r[c], r[4 + c], 0x31);
  }
  SOTTO_UNROLL
  for (int i = 0; i < 8; ++i)
    r[i] = t[i];
}

// Lane i: elements 2 i and 2 i + 1 of a column of two bf16 rows; a null row and columns beyond n
// are zero.
inline void store_bf16_pairs(uint16_t* out, const uint16_t* even, const uint16_t* odd, int64_t n) {
  const auto row = [n](const uint16_t* p) {
    if (p == nullptr) return _mm_setzero_si128();
    return n >= kLanes ? _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)) : load_halves_n(p, n);
  };
  const __m128i lo = row(even);
  const __m128i hi = row(odd);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_unpacklo_epi16(lo, hi));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 8), _mm_unpackhi_epi16(lo, hi));
}

}  // namespace
}  // namespace sotto::kernels

#endif  // SOTTO_KERNELS_X86_64_VEC_AVX2_INL_H_
