#include <immintrin.h>

#include "kernels/x86_64/kernels.h"
#include "kernels/x86_64/peak-inl.h"

namespace sotto::kernels {
namespace {

struct F32 {
  using Sum = __m256;
  static constexpr int kProducts = 8;
  static Sum zero() { return _mm256_setzero_ps(); }
  static Sum factor() { return _mm256_set1_ps(0.5f); }
  static Sum add_product(Sum sum, Sum x) { return _mm256_fmadd_ps(x, x, sum); }
  static float value(Sum sum) { return _mm256_cvtss_f32(sum); }
};

// Bytes are widened to 16 bits first: sums of two products of bytes do not fit 16 bits.
struct Int8 {
  using Sum = __m256i;
  static constexpr int kProducts = 16;
  static Sum zero() { return _mm256_setzero_si256(); }
  static Sum factor() { return _mm256_set1_epi8(1); }
  static Sum add_product(Sum sum, Sum x) { return _mm256_add_epi32(sum, _mm256_madd_epi16(x, x)); }
  static float value(Sum sum) { return static_cast<float>(_mm256_cvtsi256_si32(sum)); }
};

}  // namespace

namespace x86_64 {
const PeakProbe kPeakF32Avx2 = {"peak_f32_avx2", 2.0 * kPeakChains* F32::kProducts, run_peak<F32>};
const PeakProbe kPeakInt8Avx2 = {"peak_int8_avx2", 2.0 * kPeakChains* Int8::kProducts,
                                 run_peak<Int8>};
}  // namespace x86_64

}  // namespace sotto::kernels
