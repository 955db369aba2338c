// What the files of this folder define, by op, type and instruction set.
#ifndef SOTTO_KERNELS_X86_64_KERNELS_H_
#define SOTTO_KERNELS_X86_64_KERNELS_H_

#include "kernels/attention.h"
#include "kernels/cached_attention.h"
#include "kernels/convert.h"
#include "kernels/gemm.h"
#include "kernels/layer_norm.h"
#include "kernels/pack.h"

namespace sotto::kernels::x86_64 {

extern const GemmKernel kGemmF32Avx2, kGemmF32Avx512;

}  // namespace sotto::kernels::x86_64

#endif  // SOTTO_KERNELS_X86_64_KERNELS_H_
