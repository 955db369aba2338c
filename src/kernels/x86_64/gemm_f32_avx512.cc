#include "kernels/gemm.h"
#include "kernels/x86_64/gemm-inl.h"
#include "kernels/x86_64/kernels.h"

namespace sotto::kernels::x86_64 {
namespace {

struct F32 {
  using Weights = __m512;
  using Factor = __m512;
  using Sum = __m512;
  static constexpr int kRows = 12;
  static constexpr int64_t kDepth = gemm_depth(GemmType::kF32);
  static Sum zero() { return _mm512_setzero_ps(); }
  static Weights weights(const uint32_t* p) { return _mm512_loadu_ps(p); }
  static Factor factor(const uint32_t* p) {
    float v;
    __builtin_memcpy(&v, p, sizeof v);
    return _mm512_set1_ps(v);
  }
  static Sum dot(Sum s, Factor f, Weights w) { return _mm512_fmadd_ps(f, w, s); }
  static Vec value(Sum s, const GemmArgs&, int64_t, int64_t, int64_t) { return s; }
};

}  // namespace

const GemmKernel kGemmF32Avx512 = {"gemm_f32_avx512", F32::kRows, kPanel, gemm<F32>};

}  // namespace sotto::kernels::x86_64
