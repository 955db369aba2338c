#include <array>
#include <cmath>
#include <cstring>

#include "whisper/weights.h"

namespace sotto::whisper {
namespace {

/// Bit pattern of the exponent and its lowest bit, repeated over 64 bits: adding the lowest bit to
/// an exponent of all ones (NaN or infinity) carries into the sign bit, which masking has cleared,
/// and never into the neighbour.
struct Pattern {
  uint64_t exponent, lowest, sign;
};
constexpr Pattern kF16Pattern = {0x7c007c007c007c00U, 0x0400040004000400U, 0x8000800080008000U};
constexpr Pattern kBf16Pattern = {0x7f807f807f807f80U, 0x0080008000800080U, 0x8000800080008000U};
constexpr Pattern kF32Pattern = {0x7f8000007f800000U, 0x0080000000800000U, 0x8000000080000000U};
constexpr Pattern kF64Pattern = {0x7ff0000000000000U, 0x0010000000000000U, 0x8000000000000000U};

bool floats_finite(std::span<const std::byte> bytes, const Pattern& pattern) {
  uint64_t found = 0;
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, sizeof(word));
    found |= (word & pattern.exponent) + pattern.lowest;
  }
  uint64_t rest = 0;  // Zeros beyond the end are finite
  if (i < bytes.size()) std::memcpy(&rest, bytes.data() + i, bytes.size() - i);
  found |= (rest & pattern.exponent) + pattern.lowest;
  return (found & pattern.sign) == 0;
}

/// int8 values are divided by these.
bool scales_usable(std::span<const std::byte> scales) {
  for (size_t i = 0; i + sizeof(float) <= scales.size(); i += sizeof(float)) {
    float scale = 0;
    std::memcpy(&scale, scales.data() + i, sizeof(scale));
    if (!std::isfinite(1 / scale) || !std::isfinite(scale)) return false;
  }
  return true;
}

/// Where the 16-bit scales (and offsets) of a ggml block stand. Source: the block structs of
/// ggml-org/ggml.
struct BlockScales {
  DType type;
  size_t offset;
  size_t bytes;
};
constexpr std::array<BlockScales, 10> kBlockScales = {{
    {DType::kQ4_0, 0, 2},
    {DType::kQ4_1, 0, 4},
    {DType::kQ5_0, 0, 2},
    {DType::kQ5_1, 0, 4},
    {DType::kQ8_0, 0, 2},
    {DType::kQ2K, 80, 4},
    {DType::kQ3K, 108, 2},
    {DType::kQ4K, 0, 4},
    {DType::kQ5K, 0, 4},
    {DType::kQ6K, 208, 2},
}};

}  // namespace

bool scales_finite(const TensorView& view) {
  if (!scales_usable(view.row_scales)) return false;
  for (const BlockScales& scales : kBlockScales) {
    if (scales.type != view.dtype) continue;
    const auto block = static_cast<size_t>(dtype_info(view.dtype).block_bytes);
    for (size_t i = 0; i + block <= view.bytes.size(); i += block) {
      if (!floats_finite(view.bytes.subspan(i + scales.offset, scales.bytes), kF16Pattern))
        return false;
    }
  }
  return true;
}

bool all_finite(const TensorView& view) {
  if (!scales_finite(view)) return false;
  switch (view.dtype) {
    case DType::kF32:
      return floats_finite(view.bytes, kF32Pattern);
    case DType::kF16:
      return floats_finite(view.bytes, kF16Pattern);
    case DType::kBf16:
      return floats_finite(view.bytes, kBf16Pattern);
    case DType::kF64:
      return floats_finite(view.bytes, kF64Pattern);
    default:
      return true;  // Integers have no other values
  }
}

}  // namespace sotto::whisper
