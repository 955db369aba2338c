#include "kernels/gemm.h"
#include "kernels/x86_64/gemm-inl.h"
#include "kernels/x86_64/kernels.h"

namespace sotto::kernels::x86_64 {
namespace {

struct F32 {
  using Weights = __m256;
  using Factor = __m256;
  using Sum = __m256;
  static constexpr int kRows = 6;
  static constexpr int64_t kDepth = gemm_depth(GemmType::kF32);
  static Sum zero() { return _mm256_setzero_ps(); }
  static Weights weights(const uint32_t* p) {
    return _mm256_loadu_ps(reinterpret_cast<const float*>(p));
  }
  static Factor factor(const uint32_t* p) {
    return _mm256_broadcast_ss(reinterpret_cast<const float*>(p));
  }
  static Sum dot(Sum s, Factor f, Weights w) { return _mm256_fmadd_ps(f, w, s); }
  static Vec value(Sum s, const GemmArgs&, int64_t, int64_t, int64_t) { return s; }
};

}  // namespace

const GemmKernel kGemmF32Avx2 = {"gemm_f32_avx2", F32::kRows, kPanel, gemm<F32>};

}  // namespace sotto::kernels::x86_64
