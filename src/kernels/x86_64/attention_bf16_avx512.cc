#include "kernels/x86_64/attention-inl.h"
#include "kernels/x86_64/kernels.h"

namespace sotto::kernels::x86_64 {

const AttentionKernel kAttentionBf16Avx512 = {
    "attention_bf16_avx512",           GemmType::kBf16, Bf16Pairs::kRows, kPanel, attend<Bf16Pairs>,
    attention_probabilities<Bf16Pairs>};

}  // namespace sotto::kernels::x86_64
