// Attention of one query row to keys and values that lie in scattered rows of a cache.
#ifndef SOTTO_KERNELS_CACHED_ATTENTION_H_
#define SOTTO_KERNELS_CACHED_ATTENTION_H_

#include <cstdint>

namespace sotto::kernels {

struct CachedAttentionArgs {
  int64_t keys = 0;  ///< At least 1
  int64_t head_dim = 0;
  const float* q = nullptr;  ///< [head_dim]
  const void* k =
      nullptr;  ///< Rows of f32 or bf16 bits; key i is at k + index[i] * stride elements
  const void* v = nullptr;
  const int32_t* index = nullptr;  ///< [keys]
  int64_t stride = 0;
  float scale = 1.0f;
  float* scores = nullptr;  ///< Scratch [keys]; holds the probabilities afterwards
  float* out = nullptr;     ///< [head_dim]
};

/// out = softmax(scale * q k^T) v in f32 whatever the cache's type. Error: 1e-5 * max |v|. Serial,
/// thread-safe.
struct CachedAttentionKernels {
  const char* name = nullptr;
  void (*f32)(const CachedAttentionArgs&) = nullptr;
  void (*bf16)(const CachedAttentionArgs&) = nullptr;
};

}  // namespace sotto::kernels

#endif  // SOTTO_KERNELS_CACHED_ATTENTION_H_
