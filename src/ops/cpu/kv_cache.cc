#include "ops/cpu/kv_cache.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

namespace sotto::ops::cpu {

Result<std::unique_ptr<CpuKvCache>> CpuKvCache::create(Context& context,
                                                       const KvCacheShape& shape) {
  constexpr int64_t kMaxSide = int64_t{1} << 24;
  for (int64_t side :
       {shape.layers, shape.kv_heads, shape.head_dim, shape.max_positions, shape.max_sequences}) {
    if (side < 1 || side > kMaxSide)
      return invalid_argument("key-value cache: every side must be between 1 and 2^24");
  }
  auto cache = std::make_unique<CpuKvCache>();
  cache->shape = shape;
  cache->type = context.float_type();
  const int64_t rows = shape.max_positions * shape.max_sequences;
  const double bytes = static_cast<double>(rows) * static_cast<double>(cache->width()) *
                       static_cast<double>(shape.layers * element_bytes(cache->type));
  if (rows > std::numeric_limits<int32_t>::max() || bytes > 1e15) {
    return invalid_argument("key-value cache: " + std::to_string(rows) + " positions are too many");
  }
  // Pages of positions that are never reached are never touched and take no memory.
  SOTTO_ASSIGN_OR_RETURN(cache->keys,
                         Buffer::allocate(static_cast<int64_t>(bytes), Buffer::Pages::kSmall));
  SOTTO_ASSIGN_OR_RETURN(cache->values,
                         Buffer::allocate(static_cast<int64_t>(bytes), Buffer::Pages::kSmall));
  cache->index.resize(static_cast<size_t>(rows));
  cache->spare.resize(static_cast<size_t>(rows));
  cache->clear();
  return cache;
}

Status CpuKvCache::reorder(std::span<const int> parents, int64_t length) {
  if (static_cast<int64_t>(parents.size()) > shape.max_sequences || length < 0 ||
      length > shape.max_positions) {
    return invalid_argument("key-value cache: cannot reorder " + std::to_string(parents.size()) +
                            " sequences of " + std::to_string(length) + " positions");
  }
  for (int parent : parents) {
    if (parent < 0 || parent >= shape.max_sequences) {
      return invalid_argument("key-value cache: no sequence " + std::to_string(parent));
    }
  }
  const int64_t stride = shape.max_positions;
  for (size_t i = 0; i < parents.size(); ++i) {
    std::copy_n(index.begin() + parents[i] * stride, length,
                spare.begin() + static_cast<int64_t>(i) * stride);
  }
  for (size_t i = 0; i < parents.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i) * stride;
    std::copy_n(spare.begin() + at, length, index.begin() + at);
  }
  return {};
}

void CpuKvCache::clear() {
  std::iota(index.begin(), index.end(), 0);
}

}  // namespace sotto::ops::cpu
