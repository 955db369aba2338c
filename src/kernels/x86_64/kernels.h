// What the files of this folder define, by op, type and instruction set.
#ifndef SOTTO_KERNELS_X86_64_KERNELS_H_
#define SOTTO_KERNELS_X86_64_KERNELS_H_

#include "kernels/attention.h"
#include "kernels/cached_attention.h"
#include "kernels/convert.h"
#include "kernels/gemm.h"
#include "kernels/layer_norm.h"
#include "kernels/pack.h"
#include "kernels/peak.h"

namespace sotto::kernels::x86_64 {

extern const GemmKernel kGemmF32Avx2, kGemmF32Avx512;
extern const GemmKernel kGemmBf16Avx2, kGemmBf16Avx512, kGemmBf16Avx512Bf16;
extern const GemmKernel kGemmInt8Avx2, kGemmInt8Avx512, kGemmInt8Avx512Vnni;
extern const AttentionKernel kAttentionF32Avx2, kAttentionF32Avx512;
extern const AttentionKernel kAttentionBf16Avx2, kAttentionBf16Avx512, kAttentionBf16Avx512Bf16;
extern const CachedAttentionKernels kCachedAttentionAvx2, kCachedAttentionAvx512;
extern const LayerNormKernel kLayerNormAvx2, kLayerNormAvx512, kLayerNormAvx512Bf16;
extern const ConvertKernels kConvertAvx2, kConvertAvx512, kConvertAvx512Bf16;
extern const PackKernels kPackAvx2, kPackAvx512;
extern const PeakProbe kPeakF32Avx2, kPeakF32Avx512, kPeakBf16Avx512Bf16;
extern const PeakProbe kPeakInt8Avx2, kPeakInt8Avx512, kPeakInt8Avx512Vnni;

}  // namespace sotto::kernels::x86_64

#endif  // SOTTO_KERNELS_X86_64_KERNELS_H_
