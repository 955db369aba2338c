// The CPU implementation of Backend: production quality, and the fallback of every other device.
#ifndef SOTTO_OPS_CPU_BACKEND_H_
#define SOTTO_OPS_CPU_BACKEND_H_

#include <memory>
#include <string_view>

#include "base/cpu_features.h"
#include "ops/backend.h"

namespace sotto::ops {

/// Precision of weights and of the inputs of products; sums are always f32 (i32 for int8).
enum class ComputeType {
  kAuto,  ///< The fastest one of this CPU that keeps transcripts (docs/benchmarks.md has the
          ///< measurement)
  kF32,
  kBf16,
  kInt8,  ///< Weights per output row, activations per token row
};

struct CpuBackendOptions {
  CpuIsa isa = CpuIsa::kScalar;  ///< From cpu_isa_from_environment()
  ComputeType compute = ComputeType::kAuto;
  int threads = 0;  ///< 0: one per physical core
};

/// "auto", "f32"/"float32", "bf16"/"bfloat16", "int8".
Result<ComputeType> parse_compute_type(std::string_view name);

Result<std::unique_ptr<Backend>> make_cpu_backend(const CpuBackendOptions& options);

}  // namespace sotto::ops

#endif  // SOTTO_OPS_CPU_BACKEND_H_
