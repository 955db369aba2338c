// Products of activations with packed weights, split over the threads.
#ifndef SOTTO_OPS_CPU_PRODUCT_H_
#define SOTTO_OPS_CPU_PRODUCT_H_

#include "ops/cpu/activation.h"
#include "ops/cpu/weights.h"

namespace sotto::ops::cpu {

/// Fills in everything of a product's arguments but its epilogue and destination.
kernels::GemmArgs product_args(const Rows& rows, int64_t m, const CpuLinear& w);

/// Runs `args` (scratch is set here) in parallel.
Status run_product(Context& context, const CpuLinear& w, const kernels::GemmArgs& args);

Result<Activation> linear(Context& context, const Activation& x, const CpuLinear& w,
                          const Epilogue& epilogue);
Result<Activation> conv1d_gelu(Context& context, const Activation& x, const CpuLinear& w,
                               int stride, const CpuTable* add);
Result<Activation> mlp(Context& context, const Activation& x, const CpuLinear& w1,
                       const CpuLinear& w2, const Activation& residual);

}  // namespace sotto::ops::cpu

#endif  // SOTTO_OPS_CPU_PRODUCT_H_
