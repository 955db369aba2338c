// The implementations that one instruction-set level runs: for each op the newest at or below that
// level.
#ifndef SOTTO_KERNELS_KERNEL_TABLE_H_
#define SOTTO_KERNELS_KERNEL_TABLE_H_

#include "base/cpu_features.h"
#include "kernels/attention.h"
#include "kernels/cached_attention.h"
#include "kernels/convert.h"
#include "kernels/gemm.h"
#include "kernels/layer_norm.h"
#include "kernels/pack.h"
#include "kernels/peak.h"

namespace sotto::kernels {

struct KernelTable {
  CpuIsa isa = CpuIsa::kScalar;
  GemmKernel gemm_f32, gemm_bf16, gemm_int8;
  AttentionKernel attention_f32, attention_bf16;
  CachedAttentionKernels cached_attention;
  LayerNormKernel layer_norm;
  ConvertKernels convert;
  PackKernels pack;
  PeakProbes peak;

  [[nodiscard]] const GemmKernel& gemm(GemmType type) const {
    return type == GemmType::kF32 ? gemm_f32 : type == GemmType::kBf16 ? gemm_bf16 : gemm_int8;
  }
};

/// The table of `isa`, which must be at most detected_cpu_isa(). Built once; every entry is filled.
const KernelTable& kernel_table(CpuIsa isa);

}  // namespace sotto::kernels

#endif  // SOTTO_KERNELS_KERNEL_TABLE_H_
