// Host functions that stand for the kernels of core programs.
#ifndef SOTTO_NPU_SIM_KERNEL_TABLE_H_
#define SOTTO_NPU_SIM_KERNEL_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "npu/design/design.h"
#include "sotto/status.h"

namespace sotto::npu {

/// One argument of a kernel call: an object in tile memory, or an i32.
struct KernelArgument {
  std::span<std::byte> memory;  ///< Empty for a scalar
  const ObjectType* type = nullptr;
  int64_t scalar = 0;

  template <typename T>
  [[nodiscard]] T* as() const {
    return reinterpret_cast<T*>(memory.data());
  }
};

/// What the simulator needs to know of a kernel.
struct SimKernel {
  /// Runs the kernel; called from any thread, one call a core at a time. Touches only its
  /// arguments.
  std::function<Status(std::span<const KernelArgument>)> run;
  /// Arguments that the call writes completely; all other objects must be initialised before it.
  std::vector<size_t> outputs;
  /// Array cycles of one call.
  std::function<double(std::span<const KernelArgument>)> cycles;
};

/// By the kernel's name in the design.
using KernelTable = std::map<std::string, SimKernel, std::less<>>;

/// Plain-f32 functional kernels for the designs of npu/library and the reference designs: zero_*,
/// matmul_bf16_*, epilogue, read_header, and row kernels that copy with +1 (softmax_row, gelu_row:
/// what is simulated is dataflow, the arithmetic of the real kernels lives in npu/aie). Blocks
/// follow the generation's matrix unit.
KernelTable functional_kernels(GenerationId generation);

}  // namespace sotto::npu

#endif  // SOTTO_NPU_SIM_KERNEL_TABLE_H_
