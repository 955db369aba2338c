// Rearranging rows into the panels that gemm.h and attention.h multiply with.
#ifndef SOTTO_KERNELS_PACK_H_
#define SOTTO_KERNELS_PACK_H_

#include <cstdint>

namespace sotto::kernels {

struct PackKernels {
  const char* name = nullptr;

  /// out[w * cols + j] = rows[j * ld + w] for j < n, 0 for n <= j < cols; w < words. One panel: a
  /// transposition of 4-byte words (1 f32, 2 bf16 or 4 int8). out must not overlap rows. Serial,
  /// thread-safe.
  void (*words)(const uint32_t* rows, int64_t ld, int64_t n, int64_t words, int64_t cols,
                uint32_t* out) = nullptr;

  /// The panel of a transposed bf16 matrix: `k` rows of which `n` columns are taken; word [i][j] of
  /// out, i < words, j < cols, holds the elements of rows 2 i (low half) and 2 i + 1 in column j;
  /// zero beyond k and n. k <= 2 words.
  void (*pairs_bf16)(const uint16_t* rows, int64_t ld, int64_t k, int64_t n, int64_t words,
                     int64_t cols, uint16_t* out) = nullptr;
};

}  // namespace sotto::kernels

#endif  // SOTTO_KERNELS_PACK_H_
