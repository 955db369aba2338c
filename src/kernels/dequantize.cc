#include "kernels/dequantize.h"

#include <cstring>

#include "base/float16.h"

namespace sotto::kernels {
namespace {

constexpr int64_t kBlock = 32;

float load_f16(const uint8_t* p) {
  return to_float(F16{static_cast<uint16_t>(p[0] | (p[1] << 8))});
}

uint32_t load_u32(const uint8_t* p) {
  return static_cast<uint32_t>(p[0]) | static_cast<uint32_t>(p[1]) << 8 |
         static_cast<uint32_t>(p[2]) << 16 | static_cast<uint32_t>(p[3]) << 24;
}

// The 4-bit formats hold element i in the low and element i + 16 in the high half of byte i. The
// 5-bit ones add a word whose bit i is the fifth bit of element i. "_0" formats are centred, "_1"
// formats have an explicit minimum.
struct NibbleFormat {
  bool has_minimum;
  bool has_fifth_bit;
};

void nibble_block(NibbleFormat format, const uint8_t* block, float* y) {
  const float scale = load_f16(block);
  block += 2;
  float minimum = 0;
  int centre = format.has_fifth_bit ? 16 : 8;
  if (format.has_minimum) {
    minimum = load_f16(block);
    centre = 0;
    block += 2;
  }
  uint32_t fifth = 0;
  if (format.has_fifth_bit) {
    fifth = load_u32(block);
    block += 4;
  }
  for (int i = 0; i < 16; ++i) {
    const auto low_fifth = static_cast<int>((fifth >> i) & 1U) << 4;
    const auto high_fifth = static_cast<int>((fifth >> (i + 16)) & 1U) << 4;
    y[i] = static_cast<float>(((block[i] & 0x0f) | low_fifth) - centre) * scale + minimum;
    y[i + 16] = static_cast<float>(((block[i] >> 4) | high_fifth) - centre) * scale + minimum;
  }
}

void nibble_row(NibbleFormat format, int block_bytes, const uint8_t* p, int64_t n, float* y) {
  for (int64_t i = 0; i < n; i += kBlock, p += block_bytes)
    nibble_block(format, p, y + i);
}

void q8_0_row(const uint8_t* p, int64_t n, float* y) {
  for (int64_t i = 0; i < n; i += kBlock, p += 34) {
    const float scale = load_f16(p);
    for (int64_t j = 0; j < kBlock; ++j)
      y[i + j] = static_cast<float>(static_cast<int8_t>(p[2 + j])) * scale;
  }
}

}  // namespace

bool can_dequantize(DType type) {
  switch (type) {
    case DType::kF32:
    case DType::kF16:
    case DType::kBf16:
    case DType::kF64:
    case DType::kI8:
    case DType::kQ4_0:
    case DType::kQ4_1:
    case DType::kQ5_0:
    case DType::kQ5_1:
    case DType::kQ8_0:
      return true;
    default:
      return false;
  }
}

void dequantize_row(const ConvertKernels& convert, DType type, const std::byte* bytes, int64_t n,
                    float scale, float* y) {
  const auto* p = reinterpret_cast<const uint8_t*>(bytes);
  switch (type) {
    case DType::kF32:
      std::memcpy(y, p, static_cast<size_t>(n) * sizeof(float));
      return;
    case DType::kF16:
      convert.f16_to_f32(bytes, n, y);
      return;
    case DType::kBf16:
      convert.bf16_to_f32(bytes, n, y);
      return;
    case DType::kF64:
      for (int64_t i = 0; i < n; ++i) {
        double v;
        std::memcpy(&v, p + i * 8, 8);
        y[i] = static_cast<float>(v);
      }
      return;
    case DType::kI8:
      for (int64_t i = 0; i < n; ++i)
        y[i] = static_cast<float>(static_cast<int8_t>(p[i])) / scale;
      return;
    case DType::kQ4_0:
      nibble_row({false, false}, 18, p, n, y);
      return;
    case DType::kQ4_1:
      nibble_row({true, false}, 20, p, n, y);
      return;
    case DType::kQ5_0:
      nibble_row({false, true}, 22, p, n, y);
      return;
    case DType::kQ5_1:
      nibble_row({true, true}, 24, p, n, y);
      return;
    case DType::kQ8_0:
      q8_0_row(p, n, y);
      return;
    default:
      return;
  }
}

}  // namespace sotto::kernels
