// Softmax of one row of bf16 scores, in the forms that the first encoder's authors went through;
// the fourth is the one to use.
//
// Every form takes the row's maximum off, keeps exp as bf16 in the output row and its sum in f32,
// and then scales. They differ in how precisely they scale: bf16's rounding of 1 / sum is the same
// for the whole row, so it does not average out in the product that follows.
#ifndef SOTTO_NPU_AIE_SOFTMAX_H_
#define SOTTO_NPU_AIE_SOFTMAX_H_

#include <lut_based_ops.h>
#include <aie_api/aie.hpp>

#include "npu/aie/arch.h"

namespace SOTTO_AIE_NAMESPACE {

enum class SoftmaxForm {
  kBf16Reciprocal,   ///< v1: 1 / sum rounded to bf16
  kSplitReciprocal,  ///< v2: 1 / sum in two bf16
  kSplitBoth,        ///< v3: exp in two bf16 as well, computed a second time
  kNearest,          ///< v4: v2, and the result rounded to nearest even instead of cut
};

inline constexpr float kMaskedScore = -30000;
/// The table fetches wrong entries below -128; exp(-80) is nothing beside the maximum's 1.
inline constexpr float kLowestArgument = -80;

inline bfloat16 row_maximum(const bfloat16* __restrict in, int32_t n) {
  Bf16x16 best = all(kMaskedScore);
  for (int32_t i = 0; i < n; i += 16)
    best = aie::max(best, aie::load_v<16>(in + i));
  return aie::reduce_max(best);
}

inline Acc16 shifted_exp(const bfloat16* __restrict in, const Bf16x16& maximum) {
  const Bf16x16 shifted = aie::sub(aie::load_v<16>(in), maximum);
  return getExpBf16(aie::max(shifted, all(kLowestArgument)));
}

/// n a multiple of 16; in and out differ. The exp passes run under floor, the only mode in which
/// the table's addresses are right.
template <SoftmaxForm kForm>
inline void softmax_row(const bfloat16* __restrict in, bfloat16* __restrict out, int32_t n) {
  aie::set_rounding(aie::rounding_mode::floor);
  const Bf16x16 maximum = aie::broadcast<bfloat16, 16>(row_maximum(in, n));
  const Bf16x16 one = all(1);
  Acc16 sum(aie::zeros<bfloat16, 16>());
  for (int32_t i = 0; i < n; i += 16) {
    const Acc16 e = shifted_exp(in + i, maximum);
    const Bf16x16 stored = e.template to_vector<bfloat16>();
    aie::store_v(out + i, stored);
    if constexpr (kForm == SoftmaxForm::kSplitBoth) {
      sum = aie::add(sum, e);
    } else {
      sum = aie::mac(sum, stored, one);  // Of what is stored: its cut then cancels
    }
  }
  const float inverse = 1 / aie::reduce_add(sum.template to_vector<float>());
  const bfloat16 high(inverse);
  const bfloat16 low(inverse - static_cast<float>(high));
  const Bf16x16 scale = aie::broadcast<bfloat16, 16>(high);
  const Bf16x16 rest = aie::broadcast<bfloat16, 16>(low);
  if constexpr (kForm == SoftmaxForm::kNearest) aie::set_rounding(aie::rounding_mode::conv_even);
  for (int32_t i = 0; i < n; i += 16) {
    const Bf16x16 e = aie::load_v<16>(out + i);
    Acc16 result = aie::mul(e, scale);
    if constexpr (kForm != SoftmaxForm::kBf16Reciprocal) result = aie::mac(result, e, rest);
    if constexpr (kForm == SoftmaxForm::kSplitBoth) {
      const Acc16 exact = shifted_exp(in + i, maximum);
      result = aie::mac(result, aie::msc(exact, e, one).template to_vector<bfloat16>(), scale);
    }
    aie::store_v(out + i, result.template to_vector<bfloat16>());
  }
}

}  // namespace SOTTO_AIE_NAMESPACE

#endif  // SOTTO_NPU_AIE_SOFTMAX_H_
