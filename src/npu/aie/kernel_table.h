// The simulator's kernels with the arithmetic of the device: the sources of npu/aie compiled for
// the host.
#ifndef SOTTO_NPU_AIE_KERNEL_TABLE_H_
#define SOTTO_NPU_AIE_KERNEL_TABLE_H_

#include "base/cpu_features.h"
#include "npu/hw/generation.h"
#include "npu/sim/kernel_table.h"
#include "sotto/status.h"

namespace sotto::npu {

/// What published sources leave open or dispute of a core (npu-facts in docs/npu-design.md).
struct CoreAssumptions {
  /// Rounding mode that a kernel finds; code of the control register. Every kernel sets its own, so
  /// results must not depend on it.
  int rounding_after_reset = 0;
  /// Mode 0 cuts magnitudes instead of rounding towards minus infinity.
  bool floor_truncates = false;
  /// Where the table exp begins to fetch wrong entries.
  float exp_aliases_below = -128;
};

/// For the designs of npu/library: zero_f32, zero_i32, matmul_bf16_f32, matmul_i8_i32, epilogue,
/// read_header; rows (in, out, n with n a multiple of 16) layer_norm_row, gelu_row (from bf16 or
/// f32), softmax_row_v1 to _v4 and softmax_row, which is the fourth. `isa` is the highest
/// instruction set to use; results are the same bits for all. kUnsupported: a generation whose
/// kernels are not there yet.
Result<KernelTable> aie_kernels(GenerationId generation, CpuIsa isa,
                                const CoreAssumptions& assumptions = {});

}  // namespace sotto::npu

#endif  // SOTTO_NPU_AIE_KERNEL_TABLE_H_
