// Transposition of 4-byte words.
#ifndef SOTTO_KERNELS_X86_64_TRANSPOSE_INL_H_
#define SOTTO_KERNELS_X86_64_TRANSPOSE_INL_H_

#include "kernels/x86_64/vec-inl.h"

namespace sotto::kernels {
namespace {

// PackKernels::words (pack.h).
inline void transpose_words(const uint32_t* rows, int64_t ld, int64_t n, int64_t words,
                            int64_t cols, uint32_t* out) {
  for (int64_t w = 0; w < words; w += kLanes) {
    const int64_t count = words - w < kLanes ? words - w : kLanes;
    for (int64_t j = 0; j < cols; j += kLanes) {
      Words block[kLanes];
      SOTTO_UNROLL
      for (int i = 0; i < kLanes; ++i) {
        block[i] = j + i < n ? load_words_n(rows + (j + i) * ld + w, count) : zero_words();
      }
      transpose(block);
      SOTTO_UNROLL
      for (int i = 0; i < kLanes; ++i) {
        if (i < count) store_words_n(out + (w + i) * cols + j, block[i], cols - j);
      }
    }
  }
}

}  // namespace
}  // namespace sotto::kernels

#endif  // SOTTO_KERNELS_X86_64_TRANSPOSE_INL_H_
