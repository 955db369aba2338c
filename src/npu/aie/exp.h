// exp of f32 values by the bf16 table, for scores that reach 80.
//
// The table takes a bf16 argument, and a bf16 near 30 is a multiple of 1/8: used alone it is wrong
// by 6 %. So x = h + l with h a bf16 multiple of 1/128, which the table's 8 fraction bits hold
// exactly, and exp(x) = table(h) (1 + l + l^2/2); |l| <= 2^-7 for |x| < 1.5 and grows to 1/4 at 64.
// What is left is the rounding of the table's own entries, 0.4 % at most.
#ifndef SOTTO_NPU_AIE_EXP_H_
#define SOTTO_NPU_AIE_EXP_H_

#include <lut_based_ops.h>
#include <aie_api/aie.hpp>

#include "npu/aie/arch.h"

namespace SOTTO_AIE_NAMESPACE {

/// Arguments outside [-80, 87] count as these bounds, so that the table's word neither wraps nor
/// the result overflows. A result of exp(87) or more tells the reader that the bound was met.
/// The rounding mode must be floor: the table's address is right only then.
inline Acc16 exp_f32(const Acc16& x) {
  const Bf16x16 one = all(1);
  // Adding 1.5 makes the last kept bit at least 1/128.
  const Bf16x16 coarse =
      aie::sub(aie::mac(x, one, all(1.5F)).template to_vector<bfloat16>(), all(1.5F));
  const Bf16x16 high = aie::max(aie::min(coarse, all(87)), all(-80));
  const Bf16x16 rest = aie::msc(x, high, one).template to_vector<bfloat16>();
  const Bf16x16 low = aie::max(aie::min(rest, all(0.5F)), all(-0.5F));
  const Bf16x16 half = aie::mul(low, all(0.5F)).template to_vector<bfloat16>();
  const Bf16x16 series = aie::mac(Acc16(low), half, low).template to_vector<bfloat16>();
  const Acc16 table = getExpBf16(high);
  return aie::mac(table, table.template to_vector<bfloat16>(), series);
}

}  // namespace SOTTO_AIE_NAMESPACE

#endif  // SOTTO_NPU_AIE_EXP_H_
