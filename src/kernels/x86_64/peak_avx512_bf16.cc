#include <immintrin.h>

#include "kernels/x86_64/kernels.h"
#include "kernels/x86_64/peak-inl.h"

namespace sotto::kernels {
namespace {

struct Bf16 {
  using Sum = __m512;
  static constexpr int kProducts = 32;
  static Sum zero() { return _mm512_setzero_ps(); }
  static Sum factor() { return _mm512_castsi512_ps(_mm512_set1_epi16(0x3f00)); }  // 0.5
  static Sum add_product(Sum sum, Sum x) {
    const auto bits = reinterpret_cast<__m512bh>(x);
    return _mm512_dpbf16_ps(sum, bits, bits);
  }
  static float value(Sum sum) { return _mm512_cvtss_f32(sum); }
};

}  // namespace

namespace x86_64 {
const PeakProbe kPeakBf16Avx512Bf16 = {"peak_bf16_avx512_bf16", 2.0 * kPeakChains* Bf16::kProducts,
                                       run_peak<Bf16>};
}  // namespace x86_64

}  // namespace sotto::kernels
