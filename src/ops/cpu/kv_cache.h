// Keys and values of decoded tokens.
#ifndef SOTTO_OPS_CPU_KV_CACHE_H_
#define SOTTO_OPS_CPU_KV_CACHE_H_

#include "ops/backend.h"
#include "ops/cpu/context.h"

namespace sotto::ops::cpu {

/// Row (slot, position) of a layer is written once, when that slot decodes that position; `index`
/// says for every slot and position which row holds it, so that beams share their history. A row is
/// overwritten only by its own slot, at a position that no live history reaches.
struct CpuKvCache final : KvCache {
  kernels::GemmType type = kernels::GemmType::kF32;
  Buffer keys, values;         ///< [layers][slots * positions][kv_heads * head_dim], f32 or bf16
  std::vector<int32_t> index;  ///< [slots][positions]
  std::vector<int32_t> spare;  ///< Of the same size, for reorder

  static Result<std::unique_ptr<CpuKvCache>> create(Context& context, const KvCacheShape& shape);
  Status reorder(std::span<const int> parents, int64_t length) override;
  void clear() override;

  [[nodiscard]] int64_t width() const { return shape.kv_heads * shape.head_dim; }
  [[nodiscard]] std::byte* layer(const Buffer& buffer, int64_t i) const {
    return buffer.as<std::byte>() +
           i * shape.max_sequences * shape.max_positions * width() * element_bytes(type);
  }
  [[nodiscard]] int32_t own_row(const TokenRow& row) const {
    return static_cast<int32_t>(row.sequence * shape.max_positions + row.position);
  }
};

}  // namespace sotto::ops::cpu

#endif  // SOTTO_OPS_CPU_KV_CACHE_H_
