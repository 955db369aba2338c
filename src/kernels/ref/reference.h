// The scalar reference of every op: the fallback on any CPU and the oracle of the tests. Written to
// be read.
#ifndef SOTTO_KERNELS_REF_REFERENCE_H_
#define SOTTO_KERNELS_REF_REFERENCE_H_

#include "kernels/attention.h"
#include "kernels/cached_attention.h"
#include "kernels/convert.h"
#include "kernels/gemm.h"
#include "kernels/layer_norm.h"
#include "kernels/pack.h"
#include "kernels/peak.h"

namespace sotto::kernels::ref {

extern const GemmKernel kGemmF32, kGemmBf16, kGemmInt8;
extern const AttentionKernel kAttentionF32, kAttentionBf16;
extern const CachedAttentionKernels kCachedAttention;
extern const LayerNormKernel kLayerNorm;
extern const ConvertKernels kConvert;
extern const PackKernels kPack;
extern const PeakProbes kPeak;

/// x * Phi(x) with the C library's erf.
float gelu(float x);

/// x = exp(scale * x) / sum, over n >= 1 values.
void softmax(float* x, int64_t n, float scale);

}  // namespace sotto::kernels::ref

#endif  // SOTTO_KERNELS_REF_REFERENCE_H_
