// Softmax attention of query rows to one head's packed keys and values, without storing all scores.
//
// Keys [n, head_dim] are packed like the weights of a product (pack.h `words`): panels of
// `tile_cols` keys. Values are packed as the weights of P * V: panels of `tile_cols` features whose
// words run along the keys; a panel is [keys padded to tile_cols / depth][tile_cols] words. Keys
// and features beyond the end are zero.
#ifndef SOTTO_KERNELS_ATTENTION_H_
#define SOTTO_KERNELS_ATTENTION_H_

#include <cstdint>

#include "kernels/gemm.h"

namespace sotto::kernels {

inline constexpr int64_t kMaxHeadDim = 256;

struct AttentionArgs {
  int64_t rows = 0;         ///< Query rows
  int64_t keys = 0;         ///< At least 1
  int64_t head_dim = 0;     ///< A multiple of gemm_depth, at most kMaxHeadDim
  const void* q = nullptr;  ///< [rows, ldq]: f32 or bf16 bits
  int64_t ldq = 0;
  const void* k = nullptr;  ///< Packed
  const void* v = nullptr;  ///< Packed
  float scale = 1.0f;       ///< Of the scores, positive
  float* out = nullptr;     ///< [rows, ld_out], f32; may be null
  int64_t ld_out = 0;
  uint16_t* out16 = nullptr;  ///< [rows, ld_out16], bf16 bits; may be null
  int64_t ld_out16 = 0;
};

/// out = softmax(scale * q k^T) v. Type kF32 or kBf16 (probabilities, too, are rounded to bf16;
/// their sum is not). Error against exact arithmetic on the rounded factors: kF32 1e-5, kBf16 1e-2
/// times max |v|, for |scores| < 100. Serial, thread-safe, uses up to 64 KB of stack.
struct AttentionKernel {
  const char* name = nullptr;
  GemmType type = GemmType::kF32;
  int tile_rows = 0;
  int tile_cols = 0;
  void (*run)(const AttentionArgs&) = nullptr;
  /// scores [rows, keys] = softmax(scale * q k^T), f32; `out` and `v` of the arguments are not
  /// used.
  void (*probabilities)(const AttentionArgs&, float* scores, int64_t ld_scores) = nullptr;
};

}  // namespace sotto::kernels

#endif  // SOTTO_KERNELS_ATTENTION_H_
