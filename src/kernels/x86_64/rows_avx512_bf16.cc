#include "kernels/x86_64/kernels.h"
#include "kernels/x86_64/rows-inl.h"

namespace sotto::kernels::x86_64 {

const ConvertKernels kConvertAvx512Bf16 = {
    "convert_avx512_bf16", f32_to_bf16, bf16_to_f32, f16_to_f32, quantize_u8, quantize_s8};
const LayerNormKernel kLayerNormAvx512Bf16 = {"layer_norm_avx512_bf16", layer_norm};

}  // namespace sotto::kernels::x86_64
