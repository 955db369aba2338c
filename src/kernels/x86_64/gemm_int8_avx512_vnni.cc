#include "kernels/x86_64/gemm-inl.h"
#include "kernels/x86_64/kernels.h"

namespace sotto::kernels::x86_64 {

const GemmKernel kGemmInt8Avx512Vnni = {"gemm_int8_avx512_vnni", Int8Quads::kRows, kPanel,
                                        gemm<Int8Quads>};

}  // namespace sotto::kernels::x86_64
