// What differs between the two generations' cores, and between peano and the host.
//
// SOTTO_AIE_ARCH is 2 for AIE2 (XDNA1) and 3 for AIE2P (XDNA2); under peano it follows the target.
#ifndef SOTTO_NPU_AIE_ARCH_H_
#define SOTTO_NPU_AIE_ARCH_H_

#include <aie_api/aie.hpp>

#ifndef SOTTO_AIE_ARCH
#if defined(__AIE_ARCH__) && __AIE_ARCH__ >= 21
#define SOTTO_AIE_ARCH 3
#else
#define SOTTO_AIE_ARCH 2
#endif
#endif

// The host compiles the kernels once per generation and instruction set.
#ifndef SOTTO_AIE_NAMESPACE
#define SOTTO_AIE_NAMESPACE sotto_aie
#endif

#if defined(__clang__)
#define SOTTO_AIE_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SOTTO_AIE_UNROLL _Pragma("GCC unroll 8")
#endif

namespace SOTTO_AIE_NAMESPACE {

#if SOTTO_AIE_ARCH == 2
/// Matrix unit for bf16: shape, and how many accumulators a side the register file holds.
struct Bf16Unit {
  static constexpr int rows = 4, depth = 8, cols = 4, block = 4;
  using Mmul = aie::mmul<rows, depth, cols, bfloat16, bfloat16, accfloat>;
};
struct Int8Unit {
  static constexpr int rows = 4, depth = 8, cols = 8, block = 2;
  using Mmul = aie::mmul<rows, depth, cols, int8_t, int8_t, acc32>;
};
#else
struct Bf16Unit {
  static constexpr int rows = 4, depth = 8, cols = 8, block = 2;
  using Mmul = aie::mmul<rows, depth, cols, bfloat16, bfloat16, accfloat>;
};
struct Int8Unit {
  static constexpr int rows = 8, depth = 8, cols = 8, block = 2;
  using Mmul = aie::mmul<rows, depth, cols, int8_t, int8_t, acc32>;
};
#endif

/// The vectors of all element-by-element code.
using Bf16x16 = aie::vector<bfloat16, 16>;
using Acc16 = aie::accum<accfloat, 16>;

inline Bf16x16 all(float x) {
  return aie::broadcast<bfloat16, 16>(bfloat16(x));
}

}  // namespace SOTTO_AIE_NAMESPACE

#endif  // SOTTO_NPU_AIE_ARCH_H_
