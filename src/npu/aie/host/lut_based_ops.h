// The table exp of AIE2 on the host: getExpBf16 of the vendor's runtime library, by its published
// behaviour.
//
// The argument becomes fixed point with 8 fraction bits by floor; the result is I[integer part] *
// F[fraction], both tables bf16. The lookup's address is a rounding shift that is right only under
// floor: under other modes arguments just below an integer fetch the next integer's entry.
#ifndef SOTTO_NPU_AIE_HOST_LUT_BASED_OPS_H_
#define SOTTO_NPU_AIE_HOST_LUT_BASED_OPS_H_

#include "npu/aie/host/aie_api/aie.hpp"
#include "npu/aie/host/exp_tables.h"

inline namespace SOTTO_AIE_HOST_ISA {

inline aie::accum<accfloat, 16> getExpBf16(const aie::vector<bfloat16, 16>& x) {
  const aie::HostCore& core = aie::host_core();
  // The last steps before an integer round up to it. How many is not published; 16 of 256 here.
  const int carry = core.rounding == aie::rounding_mode::floor ||
                            core.rounding == aie::rounding_mode::symmetric_floor
                        ? 0
                        : 16;
  aie::vector<float, 16> out = aie::zeros<float, 16>();
  float lane[16];
  for (unsigned i = 0; i < 16; ++i) {
    const float value = (float)x.get(i);
    const bool in_word = value > -128 && value < 128;
    if (!in_word && value < 0 && value >= core.exp_aliases_below) {
      lane[i] = 0;  // Sources that see no aliasing here see the table's last entries: zero
      continue;
    }
    // The 16-bit word wraps; floor of a bf16 times 256 fits 64 bits for every finite value in use.
    const float scaled = value * 256;
    int64_t fixed = scaled > -9e15f && scaled < 9e15f ? (int64_t)scaled : 0;
    if ((float)fixed > scaled) --fixed;
    const auto word = (uint32_t)(uint64_t)fixed & 0xffffU;
    const uint32_t entry = ((word + (uint32_t)carry) >> 8) & 0xffU;
    const uint32_t fraction = word & 0xffU;
    lane[i] = (float)kExpInteger[entry] * (float)kExpFraction[fraction];
  }
  memcpy(&out, lane, sizeof lane);
  return aie::accum<accfloat, 16>(out);
}

}  // namespace SOTTO_AIE_HOST_ISA

#endif  // SOTTO_NPU_AIE_HOST_LUT_BASED_OPS_H_
