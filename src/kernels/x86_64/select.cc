#include "kernels/x86_64/select.h"

#include "kernels/x86_64/kernels.h"

namespace sotto::kernels::x86_64 {

void select(KernelTable& table) {
  // Oldest first: a later line replaces an earlier one.
  if (table.isa >= CpuIsa::kAvx2) {
    table.gemm_f32 = kGemmF32Avx2;
  }
  if (table.isa >= CpuIsa::kAvx512) {
    table.gemm_f32 = kGemmF32Avx512;
  }
}

}  // namespace sotto::kernels::x86_64
