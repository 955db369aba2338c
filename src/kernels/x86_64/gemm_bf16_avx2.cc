#include "kernels/x86_64/gemm-inl.h"
#include "kernels/x86_64/kernels.h"

namespace sotto::kernels::x86_64 {

const GemmKernel kGemmBf16Avx2 = {"gemm_bf16_avx2", Bf16Pairs::kRows, kPanel, gemm<Bf16Pairs>};

}  // namespace sotto::kernels::x86_64
