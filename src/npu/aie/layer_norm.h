// Layer norm of one row without scale and shift: those fold into the weights that follow.
#ifndef SOTTO_NPU_AIE_LAYER_NORM_H_
#define SOTTO_NPU_AIE_LAYER_NORM_H_

#include <aie_api/aie.hpp>

#include "npu/aie/arch.h"

namespace SOTTO_AIE_NAMESPACE {

/// 1 / sqrt(x) by Newton steps from an estimate of the exponent: the core has no square root that
/// links. Three steps leave less than one part in 10^6.
inline float inverse_sqrt(float x) {
  int32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  bits = 0x5f3759df - (bits >> 1);
  float y;
  __builtin_memcpy(&y, &bits, sizeof y);
  for (int i = 0; i < 3; ++i)
    y = y * (1.5F - 0.5F * x * y * y);
  return y;
}

/// out = (x - mean) / sqrt(var + 1e-5), n a multiple of 16. The mean comes first and the squares
/// are of what differs from it: E[x^2] - mean^2 would cancel where the mean is large. The
/// deviation is split in two bf16 so that the unit's products lose nothing of it.
inline void layer_norm_row(const bfloat16* __restrict in, bfloat16* __restrict out, int32_t n) {
  aie::set_rounding(aie::rounding_mode::conv_even);
  const Bf16x16 one = all(1);
  Acc16 sum(aie::zeros<bfloat16, 16>());
  for (int32_t i = 0; i < n; i += 16)
    sum = aie::mac(sum, aie::load_v<16>(in + i), one);
  const float mean = aie::reduce_add(sum.template to_vector<float>()) / static_cast<float>(n);
  const bfloat16 mean_high(mean);
  const bfloat16 mean_low(mean - static_cast<float>(mean_high));
  const Bf16x16 high = aie::broadcast<bfloat16, 16>(mean_high);
  const Bf16x16 low = aie::broadcast<bfloat16, 16>(mean_low);

  Acc16 squares(aie::zeros<bfloat16, 16>());
  for (int32_t i = 0; i < n; i += 16) {
    const Acc16 d = aie::msc(aie::msc(Acc16(aie::load_v<16>(in + i)), high, one), low, one);
    const Bf16x16 rounded = d.template to_vector<bfloat16>();
    squares = aie::mac(squares, rounded, rounded);
  }
  const float variance =
      aie::reduce_add(squares.template to_vector<float>()) / static_cast<float>(n);
  const float inverse = inverse_sqrt(variance + 1e-5F);
  const bfloat16 inverse_high(inverse);
  const bfloat16 inverse_low(inverse - static_cast<float>(inverse_high));
  const Bf16x16 scale = aie::broadcast<bfloat16, 16>(inverse_high);
  const Bf16x16 scale_rest = aie::broadcast<bfloat16, 16>(inverse_low);

  for (int32_t i = 0; i < n; i += 16) {
    const Acc16 d = aie::msc(aie::msc(Acc16(aie::load_v<16>(in + i)), high, one), low, one);
    const Bf16x16 first = d.template to_vector<bfloat16>();
    const Bf16x16 rest = aie::msc(d, first, one).template to_vector<bfloat16>();
    const Acc16 scaled = aie::mac(aie::mac(aie::mul(first, scale_rest), rest, scale), first, scale);
    aie::store_v(out + i, scaled.template to_vector<bfloat16>());
  }
}

}  // namespace SOTTO_AIE_NAMESPACE

#endif  // SOTTO_NPU_AIE_LAYER_NORM_H_
