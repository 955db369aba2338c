// The register-tiled product, written once for every element type and instruction set.
//
// A traits type T gives
// - Weights, Factor, Sum: what a vector of packed words, one broadcast word of A and a sum are held
// in;
// - kRows: rows of a full tile, where kRows x 2 sums must fit the registers;
// - kDepth, zero(), weights(p), factor(p), dot(sum, factor, weights);
// - value(sum, args, row, col, n): the f32 vector of n columns before the epilogue.
#ifndef SOTTO_KERNELS_X86_64_GEMM_INL_H_
#define SOTTO_KERNELS_X86_64_GEMM_INL_H_

#include "kernels/gemm.h"
#include "kernels/x86_64/math-inl.h"
#include "kernels/x86_64/vec-inl.h"

namespace sotto::kernels {
namespace {

constexpr int64_t kPanel = 2 * kLanes;  // columns of a panel

template <class T>
inline void finish(const GemmArgs& args, int64_t row, int64_t col, typename T::Sum sum) {
  const int64_t n = args.n - col;
  if (n <= 0) return;
  Vec v = T::value(sum, args, row, col, n);
  const bool full = n >= kLanes;
  const auto get = [=](const float* p) { return full ? load(p) : load_n(p, n); };
  if (args.bias != nullptr) v = add(v, get(args.bias + col));
  if (args.gelu) v = gelu_vec(v);
  if (args.residual != nullptr) v = add(v, get(args.residual + row * args.ld_residual + col));
  if (args.c != nullptr) {
    float* p = args.c + row * args.ldc + col;
    if (full)
      store(p, v);
    else
      store_n(p, v, n);
  }
  if (args.c16 != nullptr) {
    uint16_t* p = args.c16 + row * args.ldc16 + col;
    if (full)
      store_bf16(p, v);
    else
      store_bf16_n(p, v, n);
  }
}

// kRows rows of A against kVecs vectors of columns: half a panel, a panel or two.
template <class T, int kRows, int kVecs>
void tile(const GemmArgs& args, const uint32_t* a, int64_t row, int64_t col) {
  const int64_t words = args.k / T::kDepth;
  const uint32_t* w = static_cast<const uint32_t*>(args.w) + col * words;
  const int64_t next_panel = words * kPanel;
  typename T::Sum sum[kRows][kVecs];
  SOTTO_UNROLL
  for (int r = 0; r < kRows; ++r) {
    SOTTO_UNROLL
    for (int v = 0; v < kVecs; ++v)
      sum[r][v] = T::zero();
  }
  for (int64_t i = 0; i < words; ++i) {
    typename T::Weights weights[kVecs];
    SOTTO_UNROLL
    for (int v = 0; v < kVecs; ++v)
      weights[v] = T::weights(w + (v / 2) * next_panel + (v % 2) * kLanes);
    SOTTO_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const typename T::Factor factor = T::factor(a + r);
      SOTTO_UNROLL
      for (int v = 0; v < kVecs; ++v)
        sum[r][v] = T::dot(sum[r][v], factor, weights[v]);
    }
    w += kPanel;
    a += kRows;
  }
  SOTTO_UNROLL
  for (int r = 0; r < kRows; ++r) {
    SOTTO_UNROLL
    for (int v = 0; v < kVecs; ++v)
      finish<T>(args, row + r, col + v * kLanes, sum[r][v]);
  }
}

// out[w * rows + r] = word w of row r: what tile() reads one after the other.
inline void interleave_rows(const uint32_t* a, int64_t ld, int64_t rows, int64_t words,
                            uint32_t* out) {
  for (int64_t w = 0; w < words; w += kLanes) {
    const int64_t count = words - w < kLanes ? words - w : kLanes;
    for (int64_t r = 0; r < rows; r += kLanes) {
      const int64_t here = rows - r < kLanes ? rows - r : kLanes;
      Words block[kLanes];
      SOTTO_UNROLL
      for (int i = 0; i < kLanes; ++i) {
        block[i] = i < here ? load_words_n(a + (r + i) * ld + w, count) : zero_words();
      }
      transpose(block);
      SOTTO_UNROLL
      for (int i = 0; i < kLanes; ++i) {
        if (i < count) store_words_n(out + (w + i) * rows + r, block[i], here);
      }
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
    for (int64_t row = 0; row < args.m; row += T::kRows) {
      const int64_t rows = args.m - row < T::kRows ? args.m - row : T::kRows;
      interleave_rows(a + row * (args.lda / T::kDepth), args.lda / T::kDepth, rows, words,
                      scratch + row * words);
    }
    a = scratch;
  }
  int64_t col = 0;
  if (args.m <= T::kRows / 2) {
    // Few rows: two panels at once, for enough independent sums to hide the latency of the
    // instructions.
    for (; col + kPanel < args.n; col += 2 * kPanel)
      tile_of<T, T::kRows / 2, 4>(args.m, args, a, 0, col);
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
