#include "kernels/x86_64/gemm-inl.h"
#include "kernels/x86_64/kernels.h"

namespace sotto::kernels::x86_64 {

const GemmKernel kGemmF32Avx2 = {"gemm_f32_avx2", F32::kRows, kPanel, gemm<F32>};

}  // namespace sotto::kernels::x86_64
