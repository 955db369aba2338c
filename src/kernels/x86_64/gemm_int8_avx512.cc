#include "kernels/x86_64/gemm-inl.h"
#include "kernels/x86_64/kernels.h"

namespace sotto::kernels::x86_64 {

const GemmKernel kGemmInt8Avx512 = {"gemm_int8_avx512", Int8Quads::kRows, kPanel, gemm<Int8Quads>};

}  // namespace sotto::kernels::x86_64
