// What the operations of the CPU backend share: threads, kernels, memory.
#ifndef SOTTO_OPS_CPU_CONTEXT_H_
#define SOTTO_OPS_CPU_CONTEXT_H_

#include <memory>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/kernel_table.h"
#include "ops/cpu/buffer.h"
#include "ops/cpu_backend.h"

namespace sotto::ops::cpu {

struct Context {
  Context(const kernels::KernelTable& table, ComputeType type, int threads)
      : kernels(table),
        compute(type),
        pool(threads),
        workspaces(static_cast<size_t>(pool.size())) {}

  const kernels::KernelTable& kernels;
  const ComputeType compute;  ///< Never kAuto
  ThreadPool pool;
  std::shared_ptr<BufferPool> buffers = std::make_shared<BufferPool>();

  /// Element type of linear layers.
  [[nodiscard]] kernels::GemmType linear_type() const {
    switch (compute) {
      case ComputeType::kBf16:
        return kernels::GemmType::kBf16;
      case ComputeType::kInt8:
        return kernels::GemmType::kInt8;
      default:
        return kernels::GemmType::kF32;
    }
  }

  /// Element type of convolutions, attention and caches. int8 leaves them in bf16 where the CPU
  /// multiplies that, else in f32: scores and values have no weight rows to scale by.
  [[nodiscard]] kernels::GemmType float_type() const {
    const bool bf16 = compute == ComputeType::kBf16 ||
                      (compute == ComputeType::kInt8 && kernels.isa >= CpuIsa::kAvx512Bf16);
    return bf16 ? kernels::GemmType::kBf16 : kernels::GemmType::kF32;
  }

  [[nodiscard]] const kernels::AttentionKernel& attention() const {
    return float_type() == kernels::GemmType::kBf16 ? kernels.attention_bf16
                                                    : kernels.attention_f32;
  }

  /// Gives every worker at least `bytes` of scratch memory, to be called before a parallel loop
  /// that uses workspaces.
  Status reserve_workspaces(int64_t bytes) {
    for (Buffer& workspace : workspaces) {
      if (workspace.bytes() >= bytes) continue;
      SOTTO_ASSIGN_OR_RETURN(workspace, Buffer::allocate(bytes));
    }
    return {};
  }
  std::vector<Buffer> workspaces;  ///< One a worker
};

constexpr int64_t element_bytes(kernels::GemmType type) {
  return 4 / kernels::gemm_depth(type);
}

}  // namespace sotto::ops::cpu

#endif  // SOTTO_OPS_CPU_CONTEXT_H_
