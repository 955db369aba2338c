#include "kernels/x86_64/kernels.h"
#include "kernels/x86_64/rows-inl.h"

namespace sotto::kernels::x86_64 {

const ConvertKernels kConvertAvx2 = {"convert_avx2", f32_to_bf16, bf16_to_f32,
                                     f16_to_f32,     quantize_u8, quantize_s8};
const LayerNormKernel kLayerNormAvx2 = {"layer_norm_avx2", layer_norm};
const PackKernels kPackAvx2 = {"pack_avx2", transpose_words, pack_pairs_bf16};
const CachedAttentionKernels kCachedAttentionAvx2 = {
    "cached_attention_avx2", cached_attention<FromF32>, cached_attention<FromBf16>};

}  // namespace sotto::kernels::x86_64
