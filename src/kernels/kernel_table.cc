#include "kernels/kernel_table.h"

#include "kernels/ref/reference.h"
#if !defined(SOTTO_NO_SIMD)
#include "kernels/x86_64/select.h"
#endif

namespace sotto::kernels {
namespace {

KernelTable scalar_table() {
  KernelTable table;
  table.gemm_f32 = ref::kGemmF32;
  table.gemm_bf16 = ref::kGemmBf16;
  table.gemm_int8 = ref::kGemmInt8;
  table.attention_f32 = ref::kAttentionF32;
  table.attention_bf16 = ref::kAttentionBf16;
  table.cached_attention = ref::kCachedAttention;
  table.layer_norm = ref::kLayerNorm;
  table.convert = ref::kConvert;
  table.pack = ref::kPack;
  table.peak = ref::kPeak;
  return table;
}

struct AllTables {
  static constexpr size_t kCount = static_cast<size_t>(CpuIsa::kAvx512Bf16) + 1;
  KernelTable tables[kCount];

  AllTables() {
    for (size_t i = 0; i < kCount; ++i) {
      tables[i] = scalar_table();
      tables[i].isa = static_cast<CpuIsa>(i);
#if !defined(SOTTO_NO_SIMD)
      x86_64::select(tables[i]);
#endif
    }
  }
};

}  // namespace

const KernelTable& kernel_table(CpuIsa isa) {
  static const AllTables all;
  return all.tables[static_cast<size_t>(isa)];
}

}  // namespace sotto::kernels
