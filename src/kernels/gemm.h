// Matrix products C = epilogue(A * W^T) over weights that were packed once for the register tile.
//
// Packed weights. W [n, k] is cut into panels of `tile.cols` rows (output columns). A panel holds,
// for each group of `depth` consecutive k, one 4-byte word per output column: 1 f32, 2 bf16 or 4
// int8. So a panel is [k / depth][tile.cols] words, panels follow each other, rows beyond n and k
// beyond the end are zero. pack.h makes it.
//
// All kernels here: thread-safe and serial; a caller splits m and n (n at panel borders) over
// threads. A and C must not overlap. No pointer needs more alignment than its element; W at 64
// bytes is fastest.
#ifndef SOTTO_KERNELS_GEMM_H_
#define SOTTO_KERNELS_GEMM_H_

#include <cstdint>

namespace sotto::kernels {

/// Element type of both factors; sums are f32 (i32 for kInt8).
enum class GemmType { kF32, kBf16, kInt8 };

/// k elements in one 4-byte word of a packed panel.
constexpr int gemm_depth(GemmType type) {
  return type == GemmType::kF32 ? 1 : type == GemmType::kBf16 ? 2 : 4;
}

/// Largest k of kInt8: 255 * 127 * k must fit i32.
inline constexpr int64_t kMaxInt8Depth = 65536;

struct GemmArgs {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;  ///< A multiple of gemm_depth(type); A's elements up to there must be finite
  const void* a = nullptr;  ///< [m, lda]: f32, bf16 bits, or u8; rows may overlap (convolution)
  int64_t lda = 0;          ///< Elements from row to row, a multiple of gemm_depth(type)
  const void* w = nullptr;  ///< Packed panels: f32, bf16 bits, or s8

  // kInt8 only: A = (a - a_zero) * a_scale per row, W = w * w_scale per output column; w_sum[j] =
  // sum over k of w[j].
  const float* a_scale = nullptr;   ///< [m]
  const int32_t* a_zero = nullptr;  ///< [m], 0..255
  const float* w_scale = nullptr;   ///< [n]
  const int32_t* w_sum = nullptr;   ///< [n]

  // Epilogue: C = residual + gelu(A W^T + bias), each part optional.
  const float* bias = nullptr;      ///< [n]
  bool gelu = false;                ///< Exact (erf) form
  const float* residual = nullptr;  ///< [m, ld_residual]; may be the same memory as c
  int64_t ld_residual = 0;
  float* c = nullptr;  ///< [m, ldc], f32; may be null
  int64_t ldc = 0;
  uint16_t* c16 = nullptr;  ///< [m, ldc16], bf16 bits; may be null
  int64_t ldc16 = 0;

  void* scratch =
      nullptr;  ///< gemm_scratch_bytes(type, m, k), aligned to 64 bytes; for this call alone
};

/// Room for a rearranged copy of A.
constexpr int64_t gemm_scratch_bytes(GemmType type, int64_t m, int64_t k) {
  return m * k / gemm_depth(type) * 4 + 64;
}

/// One implementation. Error of kF32 and kBf16 against exact arithmetic on the (rounded) factors,
/// per element: |error| <= 2 (k + 2) 2^-24 * sum |a_i w_i|, GELU adds 1e-6 * max(1, |x|). kBf16
/// dot-product instructions flush subnormal products to zero. kInt8 sums are exact.
struct GemmKernel {
  const char* name = nullptr;  ///< "gemm_bf16_avx512_bf16"
  int tile_rows = 0;           ///< Rows of A that share one pass over a panel: m is best a multiple
  int tile_cols = 0;           ///< Width of a panel
  void (*run)(const GemmArgs&) = nullptr;
};

}  // namespace sotto::kernels

#endif  // SOTTO_KERNELS_GEMM_H_
