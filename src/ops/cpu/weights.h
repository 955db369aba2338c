// Weights as the CPU backend keeps them: packed once for the register tiles.
#ifndef SOTTO_OPS_CPU_WEIGHTS_H_
#define SOTTO_OPS_CPU_WEIGHTS_H_

#include "kernels/gemm.h"
#include "ops/backend.h"
#include "ops/cpu/context.h"

namespace sotto::ops::cpu {

struct CpuLinear final : LinearWeight {
  std::string name;
  kernels::GemmType type = kernels::GemmType::kF32;
  int64_t depth =
      0;  ///< k of the product: `in` (times the width of a convolution) rounded up to whole words
  int64_t conv_width = 0;    ///< 0: not a convolution
  Buffer panels;             ///< kernels/gemm.h
  std::vector<float> scale;  ///< kInt8: [out]
  std::vector<int32_t> sum;  ///< kInt8: [out]
  std::vector<float> bias;   ///< [out], or empty
};

struct CpuNorm final : NormWeight {
  std::vector<float> gamma, beta;  ///< beta may be empty
};

struct CpuTable final : Table {
  TensorView view;
  /// Row `i` (in range) as f32.
  void read(const Context& context, int64_t i, float* out) const;
};

Result<LinearRef> upload_linear(Context& context, const LinearSource& source);
Result<LinearRef> upload_conv1d(Context& context, const LinearSource& source);
Result<NormRef> upload_norm(Context& context, const TensorView& gamma, const TensorView& beta);
Result<TableRef> upload_table(const TensorView& rows);

}  // namespace sotto::ops::cpu

#endif  // SOTTO_OPS_CPU_WEIGHTS_H_
