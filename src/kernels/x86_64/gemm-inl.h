// The product of gemm.h over register tiles, for any element type of product-inl.h.
#ifndef SOTTO_KERNELS_X86_64_GEMM_INL_H_
#define SOTTO_KERNELS_X86_64_GEMM_INL_H_

#include "kernels/gemm.h"
#include "kernels/x86_64/math-inl.h"
#include "kernels/x86_64/product-inl.h"
#include "kernels/x86_64/transpose-inl.h"

namespace sotto::kernels {
namespace {

// Bias, GELU, residual and the conversions for one vector of a row.
inline void finish(const GemmArgs& args, int64_t row, int64_t col, Vec v) {
  const int64_t n = args.n - col;
  const bool full = n >= kLanes;
  const auto get = [=](const float* p) { return full ? load(p) : load_n(p, n); };
  if (args.bias != nullptr) v = add(v, get(args.bias + col));
  if (args.gelu) v = gelu_vec(v);
  if (args.residual != nullptr) v = add(v, get(args.residual + row * args.ld_residual + col));
  if (args.c != nullptr) {
    float* p = args.c + row * args.ldc + col;
    full ? store(p, v) : store_n(p, v, n);
  }
  if (args.c16 != nullptr) {
    uint16_t* p = args.c16 + row * args.ldc16 + col;
    full ? store_bf16(p, v) : store_bf16_n(p, v, n);
  }
}

// kRows rows, interleaved at `a`, against kVecs vectors of columns: one panel or two.
template <class T, int kRows, int kVecs>
void tile(const GemmArgs& args, const uint32_t* a, int64_t row, int64_t col) {
  const int64_t words = args.k / T::kDepth;
  typename T::Sum sum[kRows][kVecs];
  clear<T>(sum);
  accumulate<T, kRows, kVecs, 1, kRows>(sum, a, static_cast<const uint32_t*>(args.w) + col * words,
                                        words * kPanel, words);
  SOTTO_UNROLL
  for (int r = 0; r < kRows; ++r) {
    SOTTO_UNROLL
    for (int v = 0; v < kVecs; ++v) {
      const int64_t at = col + v * kLanes;
      if (at < args.n) finish(args, row + r, at, T::value(sum[r][v], args, row + r, at));
    }
  }
}

template <class T, int kRows, int kVecs>
void tile_of(int64_t rows, const GemmArgs& args, const uint32_t* a, int64_t row, int64_t col) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return tile_of<T, kRows - 1, kVecs>(rows, args, a, row, col);
  }
  tile<T, kRows, kVecs>(args, a, row, col);
}

template <class T>
void gemm(const GemmArgs& args) {
  const int64_t words = args.k / T::kDepth;
  const auto* a = static_cast<const uint32_t*>(args.a);
  if (args.m > 1) {
    auto* scratch = static_cast<uint32_t*>(args.scratch);
    const int64_t ld = args.lda / T::kDepth;
    for (int64_t row = 0; row < args.m; row += T::kRows) {
      const int64_t rows = args.m - row < T::kRows ? args.m - row : T::kRows;
      transpose_words(a + row * ld, ld, rows, words, rows, scratch + row * words);
    }
    a = scratch;
  }
  int64_t col = 0;
  if (args.m <= T::kRows / 2) {
    // Few rows: two panels at once, for enough independent sums to hide the instructions' latency.
    for (; col + kPanel < args.n; col += 2 * kPanel) {
      tile_of<T, T::kRows / 2, 4>(args.m, args, a, 0, col);
    }
  }
  for (; col < args.n; col += kPanel) {
    for (int64_t row = 0; row < args.m; row += T::kRows) {
      const int64_t rows = args.m - row < T::kRows ? args.m - row : T::kRows;
      tile_of<T, T::kRows, 2>(rows, args, a + row * words, row, col);
    }
  }
}

}  // namespace
}  // namespace sotto::kernels

#endif  // SOTTO_KERNELS_X86_64_GEMM_INL_H_
