// What happens to a core's f32 sums before they leave it (npu/library/gemm.h, EpilogueMode).
#ifndef SOTTO_NPU_AIE_EPILOGUE_H_
#define SOTTO_NPU_AIE_EPILOGUE_H_

#include <aie_api/aie.hpp>

#include "npu/aie/arch.h"
#include "npu/aie/exp.h"
#include "npu/aie/gelu.h"

namespace SOTTO_AIE_NAMESPACE {

inline constexpr int kModeF32 = 0;
inline constexpr int kModeBf16 = 1;
inline constexpr int kModeGelu = 2;
inline constexpr int kModeExp = 3;

inline Acc16 load_sums(const float* p) {
  return Acc16(aie::load_v<16>(p));
}

/// In place: sums become the values that are stored. Each loop sets the mode that its arithmetic
/// needs; nothing relies on what an earlier kernel left.
template <int kElements>
inline void apply_mode(float* __restrict sums, int mode) {
  if (mode == kModeGelu) {
    aie::set_rounding(aie::rounding_mode::conv_even);
    for (int i = 0; i < kElements; i += 16)
      aie::store_v(sums + i, gelu_f32(load_sums(sums + i)).template to_vector<float>());
  } else if (mode == kModeExp) {
    aie::set_rounding(aie::rounding_mode::floor);
    for (int i = 0; i < kElements; i += 16)
      aie::store_v(sums + i, exp_f32(load_sums(sums + i)).template to_vector<float>());
  }
}

/// Mode f32 copies the tile as it is. The others round to bf16, in the half `half` of an object of
/// two tiles, with blocks [r, 2t] where the sums have [r, t]: a transfer moves whole words, and two
/// bf16 blocks side by side are as wide as an f32 block.
template <int kM, int kN>
inline void epilogue(float* __restrict sums, void* __restrict out, int mode, int half) {
  constexpr int kBlock = Bf16Unit::rows * Bf16Unit::cols;
  constexpr int kPairs = kN / (2 * Bf16Unit::cols);
  if (mode == kModeF32) {
    float* target = static_cast<float*>(out);
    for (int i = 0; i < kM * kN; i += 16)
      aie::store_v(target + i, aie::load_v<16>(sums + i));
    return;
  }
  apply_mode<kM * kN>(sums, mode);
  aie::set_rounding(aie::rounding_mode::conv_even);
  auto* target = static_cast<bfloat16*>(out);
  for (int row = 0; row < kM / Bf16Unit::rows; ++row) {
    for (int pair = 0; pair < kPairs; ++pair) {
      const float* left = sums + (row * kPairs + pair) * 2 * kBlock;
      bfloat16* to = target + ((row * 2 + half) * kPairs + pair) * 2 * kBlock;
      for (int i = 0; i < kBlock; i += 16) {
        const auto [first, second] =
            aie::interleave_zip(load_sums(left + i).template to_vector<bfloat16>(),
                                load_sums(left + kBlock + i).template to_vector<bfloat16>(),
                                static_cast<unsigned>(Bf16Unit::cols));
        aie::store_v(to + 2 * i, first);
        aie::store_v(to + 2 * i + 16, second);
      }
    }
  }
}

/// The launch's parameters out of its header object.
inline void read_header(const void* __restrict header, int32_t* __restrict parameters) {
  const auto* words = static_cast<const int32_t*>(header);
  for (int i = 0; i < 4; ++i)
    parameters[i] = words[i];
}

}  // namespace SOTTO_AIE_NAMESPACE

#endif  // SOTTO_NPU_AIE_EPILOGUE_H_
