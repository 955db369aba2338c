#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <type_traits>

#include "base/float16.h"
#include "kernels/ref/reference.h"

namespace sotto::kernels::ref {

float gelu(float x) {
  return 0.5f * x * (1.0f + std::erf(x * static_cast<float>(std::numbers::sqrt2 / 2)));
}

namespace {

constexpr int kCols = 16;

float widen(float v) {
  return v;
}
float widen(uint16_t v) {
  return to_float(Bf16{v});
}
int32_t widen(uint8_t v) {
  return v;
}
int32_t widen(int8_t v) {
  return v;
}

// Sums of one row of A with one panel.
template <typename A, typename W, typename Sum, int kDepth>
void dot_panel(const A* a, const W* w, int64_t k, std::array<Sum, kCols>& sum) {
  sum.fill(0);
  for (int64_t i = 0; i < k; i += kDepth) {
    for (int64_t d = 0; d < kDepth; ++d) {
      const auto factor = widen(a[i + d]);
      for (int64_t j = 0; j < kCols; ++j) {
        sum[static_cast<size_t>(j)] += factor * widen(w[i * kCols + j * kDepth + d]);
      }
    }
  }
}

template <typename A, typename W, typename Sum, int kDepth>
void run(const GemmArgs& args) {
  const auto* a = static_cast<const A*>(args.a);
  const auto* w = static_cast<const W*>(args.w);
  for (int64_t first = 0; first < args.n; first += kCols) {
    const W* panel = w + first * args.k;
    const int64_t count = std::min<int64_t>(kCols, args.n - first);
    for (int64_t i = 0; i < args.m; ++i) {
      std::array<Sum, kCols> sum;
      dot_panel<A, W, Sum, kDepth>(a + i * args.lda, panel, args.k, sum);
      for (int64_t jj = 0; jj < count; ++jj) {
        const int64_t j = first + jj;
        float v;
        if constexpr (std::is_same_v<Sum, int32_t>) {
          const int32_t centred = sum[static_cast<size_t>(jj)] - args.a_zero[i] * args.w_sum[j];
          v = static_cast<float>(centred) * (args.a_scale[i] * args.w_scale[j]);
        } else {
          v = sum[static_cast<size_t>(jj)];
        }
        if (args.bias != nullptr) v += args.bias[j];
        if (args.gelu) v = gelu(v);
        if (args.residual != nullptr) v += args.residual[i * args.ld_residual + j];
        if (args.c != nullptr) args.c[i * args.ldc + j] = v;
        if (args.c16 != nullptr) args.c16[i * args.ldc16 + j] = to_bf16(v).bits;
      }
    }
  }
}

}  // namespace

const GemmKernel kGemmF32 = {"gemm_f32_scalar", 1, kCols, run<float, float, float, 1>};
const GemmKernel kGemmBf16 = {"gemm_bf16_scalar", 1, kCols, run<uint16_t, uint16_t, float, 2>};
const GemmKernel kGemmInt8 = {"gemm_int8_scalar", 1, kCols, run<uint8_t, int8_t, int32_t, 4>};

}  // namespace sotto::kernels::ref
