// Attention of the encoder and of the decoder, split over the threads.
#ifndef SOTTO_OPS_CPU_ATTENTION_H_
#define SOTTO_OPS_CPU_ATTENTION_H_

#include "ops/cpu/activation.h"
#include "ops/cpu/kv_cache.h"
#include "ops/cpu/weights.h"

namespace sotto::ops::cpu {

/// Where one head's packed keys and values lie (kernels/attention.h) in memory that holds many
/// heads.
struct PackedHeads {
  int64_t keys = 0, head_dim = 0;
  int64_t key_bytes = 0, value_bytes = 0;  ///< Of one head
  PackedHeads() = default;
  PackedHeads(const kernels::AttentionKernel& kernel, int64_t keys, int64_t head_dim);
  [[nodiscard]] int64_t bytes() const { return key_bytes + value_bytes; }
};

struct CpuCrossKv final : CrossKv {
  PackedHeads layout;
  int64_t heads = 0, layers = 0;
  Buffer packed;  ///< [layers][heads][keys, then values]
  [[nodiscard]] std::byte* head(int64_t layer, int64_t i) const {
    return packed.as<std::byte>() + (layer * heads + i) * layout.bytes();
  }
};

Result<Activation> self_attention(Context& context, const Activation& qkv, int heads, int windows);
Result<CrossKvRef> cross_kv(Context& context, const Activation& x,
                            std::span<const LinearRef> key_value, int heads);
Result<Activation> cross_attention(Context& context, const Activation& q,
                                   std::span<const CrossKv* const> sources, int layer, int heads,
                                   AttentionProbe* probe);
Result<Activation> cached_attention(Context& context, const Activation& qkv, CpuKvCache& cache,
                                    int layer, std::span<const TokenRow> rows, int heads);

}  // namespace sotto::ops::cpu

#endif  // SOTTO_OPS_CPU_ATTENTION_H_
