#include "kernels/x86_64/select.h"

#include "kernels/x86_64/kernels.h"

namespace sotto::kernels::x86_64 {

void select(KernelTable& table) {
  // Oldest first: a later line replaces an earlier one. Packed weights belong to the panel width of
  // their level, so a level takes all its products and attention from the same vector width.
  if (table.isa >= CpuIsa::kAvx2) {
    table.gemm_f32 = kGemmF32Avx2;
    table.gemm_bf16 = kGemmBf16Avx2;
    table.gemm_int8 = kGemmInt8Avx2;
    table.attention_f32 = kAttentionF32Avx2;
    table.attention_bf16 = kAttentionBf16Avx2;
    table.cached_attention = kCachedAttentionAvx2;
    table.layer_norm = kLayerNormAvx2;
    table.convert = kConvertAvx2;
    table.pack = kPackAvx2;
    table.peak = {kPeakF32Avx2, kPeakF32Avx2, kPeakInt8Avx2};
  }
  if (table.isa >= CpuIsa::kAvx512) {
    table.gemm_f32 = kGemmF32Avx512;
    table.gemm_bf16 = kGemmBf16Avx512;
    table.gemm_int8 = kGemmInt8Avx512;
    table.attention_f32 = kAttentionF32Avx512;
    table.attention_bf16 = kAttentionBf16Avx512;
    table.cached_attention = kCachedAttentionAvx512;
    table.layer_norm = kLayerNormAvx512;
    table.convert = kConvertAvx512;
    table.pack = kPackAvx512;
    table.peak = {kPeakF32Avx512, kPeakF32Avx512, kPeakInt8Avx512};
  }
  if (table.isa >= CpuIsa::kAvx512Vnni) {
    table.gemm_int8 = kGemmInt8Avx512Vnni;
    table.peak.int8 = kPeakInt8Avx512Vnni;
  }
  if (table.isa >= CpuIsa::kAvx512Bf16) {
    table.gemm_bf16 = kGemmBf16Avx512Bf16;
    table.attention_bf16 = kAttentionBf16Avx512Bf16;
    table.layer_norm = kLayerNormAvx512Bf16;
    table.convert = kConvertAvx512Bf16;
    table.peak.bf16 = kPeakBf16Avx512Bf16;
  }
}

}  // namespace sotto::kernels::x86_64
