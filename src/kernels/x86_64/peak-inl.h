// The loop of every peak probe; an including file says what one step is.
#ifndef SOTTO_KERNELS_X86_64_PEAK_INL_H_
#define SOTTO_KERNELS_X86_64_PEAK_INL_H_

#include <cstdint>

#if defined(__clang__)
#define SOTTO_PEAK_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SOTTO_PEAK_UNROLL _Pragma("GCC unroll 16")
#endif

namespace sotto::kernels {
namespace {

// Two units of a latency of up to 5 cycles are busy with 10 sums; 12 and the factors fit 16
// registers.
constexpr int kPeakChains = 12;

/// `Step` has the vector type Sum and static Sum zero(), Sum factor(), Sum add_product(Sum, Sum)
/// and float value(Sum). The factor passes through an empty asm, so that no product is computed
/// only once.
template <typename Step>
inline float run_peak(int64_t iterations) {
  typename Step::Sum sums[kPeakChains], factor = Step::factor();
  SOTTO_PEAK_UNROLL
  for (int c = 0; c < kPeakChains; ++c)
    sums[c] = Step::zero();
  for (int64_t i = 0; i < iterations; ++i) {
    SOTTO_PEAK_UNROLL
    for (int c = 0; c < kPeakChains; ++c) {
      __asm__ volatile("" : "+x"(factor));
      sums[c] = Step::add_product(sums[c], factor);
    }
  }
  float total = 0;
  SOTTO_PEAK_UNROLL
  for (int c = 0; c < kPeakChains; ++c)
    total += Step::value(sums[c]);
  return total;
}

}  // namespace
}  // namespace sotto::kernels

#endif  // SOTTO_KERNELS_X86_64_PEAK_INL_H_
