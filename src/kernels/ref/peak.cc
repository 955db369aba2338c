#include "kernels/ref/reference.h"

namespace sotto::kernels::ref {
namespace {

constexpr int kChains =
    32;  // more than the latency of an addition needs, whatever the vector width

template <typename T>
float multiply_add(int64_t iterations) {
  T sums[kChains] = {};
  for (int64_t i = 0; i < iterations; ++i) {
    const T a = static_cast<T>(i & 7);
    for (int c = 0; c < kChains; ++c)
      sums[c] = static_cast<T>(sums[c] + a * static_cast<T>(c + 1));
  }
  T total = 0;
  for (const T sum : sums)
    total = static_cast<T>(total + sum);
  return static_cast<float>(total);
}

}  // namespace

const PeakProbes kPeak = {.f32 = {"peak_f32_scalar", 2 * kChains, multiply_add<float>},
                          .bf16 = {"peak_f32_scalar", 2 * kChains, multiply_add<float>},
                          .int8 = {"peak_int32_scalar", 2 * kChains, multiply_add<uint32_t>}};

}  // namespace sotto::kernels::ref
