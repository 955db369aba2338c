#include "kernels/x86_64/attention-inl.h"
#include "kernels/x86_64/kernels.h"

namespace sotto::kernels::x86_64 {

const AttentionKernel kAttentionF32Avx512 = {
    "attention_f32_avx512",      GemmType::kF32, F32::kRows, kPanel, attend<F32>,
    attention_probabilities<F32>};

}  // namespace sotto::kernels::x86_64
