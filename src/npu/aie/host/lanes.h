// Sixteen lanes at a time on the host: the arithmetic under the functional aie_api.
//
// The same source is compiled once per instruction set; everything lives in an inline namespace
// named after it, so that no copy made for a newer CPU can replace another at link time. For the
// same reason only plain headers are included. Every operation is exact or rounds as IEEE 754 says,
// so all instruction sets and thread counts give the same bits.
#ifndef SOTTO_NPU_AIE_HOST_LANES_H_
#define SOTTO_NPU_AIE_HOST_LANES_H_

#include <stdint.h>
#include <string.h>

#include <utility>  // index_sequence: a type without code

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#ifndef SOTTO_AIE_HOST_ISA
#define SOTTO_AIE_HOST_ISA plain
#endif
#define SOTTO_AIE_INLINE inline __attribute__((always_inline))

namespace aie {
inline namespace SOTTO_AIE_HOST_ISA {
namespace host {

typedef float F32x16 __attribute__((vector_size(64)));
typedef int32_t I32x16 __attribute__((vector_size(64)));
typedef uint32_t U32x16 __attribute__((vector_size(64)));
typedef uint16_t U16x16 __attribute__((vector_size(32)));
typedef int16_t I16x16 __attribute__((vector_size(32)));
typedef int8_t I8x16 __attribute__((vector_size(16)));

SOTTO_AIE_INLINE F32x16 splat(float x) {
  return F32x16{} + x;
}
SOTTO_AIE_INLINE U32x16 splat_bits(uint32_t x) {
  return U32x16{} + x;
}

/// Lanes chosen from two vectors by indices known at compile time.
template <int... kIndex, typename V>
SOTTO_AIE_INLINE V shuffle(V a, V b) {
  return __builtin_shufflevector(a, b, kIndex...);
}

SOTTO_AIE_INLINE U32x16 select(I32x16 mask, U32x16 yes, U32x16 no) {
  return (U32x16)((mask & (I32x16)yes) | (~mask & (I32x16)no));
}

/// Whether any lane of a comparison's result is set.
SOTTO_AIE_INLINE bool any(I32x16 mask) {
#if defined(__AVX512F__)
  return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#else
  uint64_t words[8];
  memcpy(words, &mask, sizeof words);
  uint64_t seen = 0;
  for (const uint64_t word : words)
    seen |= word;
  return seen != 0;
#endif
}

/// To the nearest integer, ties to even; |x| < 2^31.
SOTTO_AIE_INLINE I32x16 round_to_int(F32x16 x) {
#if defined(__AVX512F__)
  return (I32x16)_mm512_cvtps_epi32((__m512)x);
#elif defined(__AVX2__)
  __m256 half[2];
  __m256i out[2];
  memcpy(half, &x, sizeof half);
  for (int i = 0; i < 2; ++i)
    out[i] = _mm256_cvtps_epi32(half[i]);
  I32x16 result;
  memcpy(&result, out, sizeof result);
  return result;
#elif defined(__SSE2__)
  __m128 part[4];
  __m128i out[4];
  memcpy(part, &x, sizeof part);
  for (int i = 0; i < 4; ++i)
    out[i] = _mm_cvtps_epi32(part[i]);
  I32x16 result;
  memcpy(&result, out, sizeof result);
  return result;
#else
  I32x16 result;
  for (int i = 0; i < 16; ++i)
    result[i] = (int32_t)__builtin_rintf(x[i]);
  return result;
#endif
}

SOTTO_AIE_INLINE F32x16 to_f32(I32x16 x) {
  return __builtin_convertvector(x, F32x16);
}
SOTTO_AIE_INLINE F32x16 widen(U16x16 bf16) {
  return (F32x16)(__builtin_convertvector(bf16, U32x16) << 16);
}

/// Larger of two vectors of non-negative floats; their bits compare as integers.
SOTTO_AIE_INLINE U32x16 max_magnitude(U32x16 a, U32x16 b) {
#if defined(__AVX512F__)
  return (U32x16)_mm512_max_epi32((__m512i)a, (__m512i)b);
#else
  return select((I32x16)a > (I32x16)b, a, b);
#endif
}

// ---- The multiply-accumulate step
//
// acc + the sum of n products as one operation: every term is aligned to the largest exponent among
// the terms that are not zero, keeping 23 fraction bits and rounding each to nearest even on its
// own, the aligned terms are added exactly, and the sum is rounded to f32 once. A product's
// exponent is the sum of its operands' exponents, before normalisation. Source: the lane model of
// the AIE2 emulator that its author matched with silicon.

/// One lane, every case: denormal operands count without the hidden bit, an underflowing sum gives
/// zero, an overflowing one infinity.
inline float fused_lane(float acc, const float* a, const float* b, int n) {
  constexpr int kMaxTerms = 17;
  struct Term {
    int64_t mantissa;  // 23 fraction bits
    int exponent;
  };
  const auto bits_of = [](float x) {
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
  };
  const auto float_of = [](uint32_t u) {
    float x;
    memcpy(&x, &u, 4);
    return x;
  };
  constexpr uint32_t kInfinity = 0x7f800000U;
  const auto special = [](uint32_t u) { return (u & kInfinity) == kInfinity; };
  // Infinities and NaNs follow IEEE.
  bool found_special = special(bits_of(acc));
  float plain_sum = found_special ? acc : 0;
  for (int i = 0; i < n; ++i) {
    if (!special(bits_of(a[i])) && !special(bits_of(b[i]))) continue;
    plain_sum += a[i] * b[i];
    found_special = true;
  }
  if (found_special) return plain_sum != plain_sum ? float_of(0x7fc00000U) : plain_sum;

  Term terms[kMaxTerms];
  int count = 0;
  const auto exponent_of = [](uint32_t u) {
    const int field = (int)((u >> 23) & 0xffU);
    return (field == 0 ? 1 : field) - 127;
  };
  const auto mantissa_of = [](uint32_t u) {
    const int64_t hidden = (u & kInfinity) != 0 ? 0x800000 : 0;
    return (int64_t)(u & 0x7fffffU) | hidden;
  };
  const uint32_t acc_bits = bits_of(acc);
  if (const int64_t m = mantissa_of(acc_bits); m != 0)
    terms[count++] = {(acc_bits >> 31) != 0 ? -m : m, exponent_of(acc_bits)};
  for (int i = 0; i < n; ++i) {
    const uint32_t x = bits_of(a[i]);
    const uint32_t y = bits_of(b[i]);
    // bf16 operands: the low 16 mantissa bits are zero, so the product of 24-bit mantissas has 46
    // fraction bits of which the last 32 are zero.
    const int64_t m = (mantissa_of(x) >> 16) * (mantissa_of(y) >> 16) * (int64_t{1} << 9);
    if (m != 0) terms[count++] = {((x ^ y) >> 31) != 0 ? -m : m, exponent_of(x) + exponent_of(y)};
  }
  if (count == 0) return 0;
  int reference = terms[0].exponent;
  for (int i = 1; i < count; ++i)
    reference = terms[i].exponent > reference ? terms[i].exponent : reference;
  const auto shift_to_even = [](int64_t value, int shift) -> int64_t {
    if (shift <= 0) return value;
    if (shift > 40) return 0;
    const int64_t magnitude = value < 0 ? -value : value;
    const int64_t half = int64_t{1} << (shift - 1);
    const int64_t rest = magnitude & ((half << 1) - 1);
    int64_t kept = magnitude >> shift;
    if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
    return value < 0 ? -kept : kept;
  };
  int64_t sum = 0;
  for (int i = 0; i < count; ++i)
    sum += shift_to_even(terms[i].mantissa, reference - terms[i].exponent);
  if (sum == 0) return 0;
  const bool negative = sum < 0;
  int64_t magnitude = negative ? -sum : sum;
  int exponent = reference;  // Of bit 23
  int width = 64 - __builtin_clzll((uint64_t)magnitude);
  if (width > 24) {
    const int shift = width - 24;
    magnitude = shift_to_even(magnitude, shift);
    exponent += shift;
    if (magnitude == (int64_t{1} << 24)) {
      magnitude >>= 1;
      ++exponent;
    }
  } else {
    magnitude <<= 24 - width;
    exponent -= 24 - width;
  }
  const uint32_t sign = negative ? 0x80000000U : 0;
  if (exponent < -126) return 0;
  if (exponent > 127) return float_of(sign | kInfinity);
  return float_of(sign | ((uint32_t)(exponent + 127) << 23) | ((uint32_t)magnitude & 0x7fffffU));
}

/// Slow path of fused(): lanes one by one.
template <int kProducts>
__attribute__((noinline)) F32x16 fused_by_lane(F32x16 acc, const F32x16 (&a)[kProducts],
                                               const F32x16 (&b)[kProducts]) {
  F32x16 out;
  for (int lane = 0; lane < 16; ++lane) {
    float x[kProducts];
    float y[kProducts];
    for (int i = 0; i < kProducts; ++i) {
      x[i] = a[i][lane];
      y[i] = b[i][lane];
    }
    out[lane] = fused_lane(acc[lane], x, y, kProducts);
  }
  return out;
}

/// acc + sum of a[i] * b[i], operands bf16 values without denormals. The reference exponent's scale
/// makes every term a multiple of one integer unit, so that converting to integers is the alignment
/// and its rounding. Lanes whose reference is so small or large that a product or scale would leave
/// f32's range take the slow path.
template <int kProducts>
SOTTO_AIE_INLINE F32x16 fused(F32x16 acc, const F32x16 (&a)[kProducts],
                              const F32x16 (&b)[kProducts]) {
  constexpr uint32_t kExponent = 0x7f800000U;
  constexpr uint32_t kSmallest = (127U - 90) << 23;
  constexpr uint32_t kLargest = (127U + 120) << 23;
  U32x16 reference = (U32x16)acc & kExponent;
  for (int i = 0; i < kProducts; ++i) {
    const F32x16 power_a = (F32x16)((U32x16)a[i] & kExponent);
    const F32x16 power_b = (F32x16)((U32x16)b[i] & kExponent);
    reference = max_magnitude(reference, (U32x16)(power_a * power_b));
  }
  const U32x16 zero = splat_bits(0);
  const I32x16 outside =
      (reference - kSmallest > splat_bits(kLargest - kSmallest)) & (reference != zero);
  if (__builtin_expect(any(outside), 0)) return fused_by_lane(acc, a, b);
  reference = max_magnitude(reference, splat_bits(kSmallest));
  const F32x16 scale = (F32x16)(((254U + 23) << 23) - reference);  // 2^(23 - e)
  I32x16 sum = round_to_int(acc * scale);
  for (int i = 0; i < kProducts; ++i)
    sum += round_to_int(a[i] * b[i] * scale);
  return to_f32(sum) * (F32x16)(reference - (23U << 23));
}

/// Whether a bf16 vector holds a denormal, which the fast path does not take.
SOTTO_AIE_INLINE I16x16 denormals(U16x16 x) {
  const U16x16 magnitude = x & 0x7fffU;
  return (I16x16)((U16x16)(magnitude - 1) < (uint16_t)0x7f);
}
SOTTO_AIE_INLINE bool any(I16x16 mask) {
  uint64_t words[4];
  memcpy(words, &mask, sizeof words);
  return (words[0] | words[1] | words[2] | words[3]) != 0;
}

}  // namespace host
}  // namespace SOTTO_AIE_HOST_ISA
}  // namespace aie

#endif  // SOTTO_NPU_AIE_HOST_LANES_H_
