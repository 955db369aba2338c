#include "kernels/x86_64/kernels.h"
#include "kernels/x86_64/rows-inl.h"

namespace sotto::kernels::x86_64 {

const ConvertKernels kConvertAvx512 = {"convert_avx512", f32_to_bf16, bf16_to_f32,
                                       f16_to_f32,       quantize_u8, quantize_s8};
const LayerNormKernel kLayerNormAvx512 = {"layer_norm_avx512", layer_norm};
const PackKernels kPackAvx512 = {"pack_avx512", transpose_words, pack_pairs_bf16};
const CachedAttentionKernels kCachedAttentionAvx512 = {
    "cached_attention_avx512", cached_attention<FromF32>, cached_attention<FromBf16>};

}  // namespace sotto::kernels::x86_64
