#include <immintrin.h>

#include "kernels/x86_64/kernels.h"
#include "kernels/x86_64/peak-inl.h"

namespace sotto::kernels {
namespace {

struct Int8 {
  using Sum = __m512i;
  static constexpr int kProducts = 64;
  static Sum zero() { return _mm512_setzero_si512(); }
  static Sum factor() { return _mm512_set1_epi8(1); }
  static Sum add_product(Sum sum, Sum x) { return _mm512_dpbusd_epi32(sum, x, x); }
  static float value(Sum sum) { return static_cast<float>(_mm512_cvtsi512_si32(sum)); }
};

}  // namespace

namespace x86_64 {
const PeakProbe kPeakInt8Avx512Vnni = {"peak_int8_avx512_vnni", 2.0 * kPeakChains* Int8::kProducts,
                                       run_peak<Int8>};
}  // namespace x86_64

}  // namespace sotto::kernels
