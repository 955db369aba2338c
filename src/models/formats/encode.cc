#include "models/formats/encode.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/float16.h"

namespace sotto::models {
namespace {

constexpr size_t kBlock = 32;
using Block = std::span<const float, kBlock>;

template <typename T>
void store(T value, std::byte*& out) {
  std::memcpy(out, &value, sizeof value);
  out += sizeof value;
}

/// Stores `value` as f16 and returns what a reader will see.
float store_f16(float value, std::byte*& out) {
  const F16 half = to_f16(value);
  store(half.bits, out);
  return to_float(half);
}

/// x / step + offset, rounded and clamped to [0, max].
uint32_t code(float x, float step, float offset, uint32_t max) {
  if (step == 0) return std::min(max, static_cast<uint32_t>(offset));
  const float rounded = std::nearbyint(x / step + offset);
  return static_cast<uint32_t>(std::clamp(rounded, 0.0f, static_cast<float>(max)));
}

void encode_q8_0(Block x, std::byte*& out) {
  float largest = 0;
  for (const float v : x)
    largest = std::max(largest, std::fabs(v));
  const float step = store_f16(largest / 127, out);
  for (const float v : x) {
    const float q = step == 0 ? 0 : std::clamp(std::nearbyint(v / step), -127.0f, 127.0f);
    store(static_cast<int8_t>(q), out);
  }
}

/// The 4- and 5-bit formats: codes 0..2^bits - 1, with a minimum ("_1") or centred on 2^(bits - 1)
/// ("_0"). Element i is in the low, element i + 16 in the high half of byte i; fifth bits make a
/// word of their own before the bytes.
void encode_nibbles(Block x, int bits, bool has_minimum, std::byte*& out) {
  const uint32_t max = (1U << bits) - 1;
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  float step = 0, minimum = 0, offset = 0;
  if (has_minimum) {
    step = store_f16((*high - *low) / static_cast<float>(max), out);
    minimum = store_f16(*low, out);
  } else {
    // The negative end has one code more, so the value farthest from 0 goes there: the step has its
    // sign turned.
    const float extreme = -*low > *high ? *low : *high;
    offset = static_cast<float>(1U << (bits - 1));
    step = store_f16(extreme / -offset, out);
  }
  std::array<uint32_t, kBlock> codes;
  uint32_t fifth_bits = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    codes[i] = code(x[i] - minimum, step, offset, max);
    fifth_bits |= (codes[i] >> 4) << i;
  }
  if (bits == 5) store(fifth_bits, out);
  for (size_t i = 0; i < kBlock / 2; ++i) {
    store(static_cast<uint8_t>((codes[i] & 15) | (codes[i + kBlock / 2] & 15) << 4), out);
  }
}

void encode_block(DType type, Block x, std::byte*& out) {
  switch (type) {
    case DType::kQ4_0:
      return encode_nibbles(x, 4, false, out);
    case DType::kQ4_1:
      return encode_nibbles(x, 4, true, out);
    case DType::kQ5_0:
      return encode_nibbles(x, 5, false, out);
    case DType::kQ5_1:
      return encode_nibbles(x, 5, true, out);
    default:
      return encode_q8_0(x, out);
  }
}

/// Largest |x| that a value or a block's scale and minimum can hold.
float largest_encodable(DType type) {
  if (type == DType::kF32) return std::numeric_limits<float>::max();
  return type == DType::kBf16 ? 0x1.fep127f : 65504.0f;
}

}  // namespace

bool can_encode(DType type) {
  constexpr std::array kTypes = {DType::kF32,  DType::kF16,  DType::kBf16, DType::kQ4_0,
                                 DType::kQ4_1, DType::kQ5_0, DType::kQ5_1, DType::kQ8_0};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

bool encode_row(DType type, std::span<const float> x, std::span<std::byte> out) {
  const float limit = largest_encodable(type);
  // Written so that NaN fails, too.
  if (!std::all_of(x.begin(), x.end(), [&](float v) { return std::fabs(v) <= limit; }))
    return false;
  std::byte* to = out.data();
  switch (type) {
    case DType::kF32:
      std::memcpy(to, x.data(), x.size_bytes());
      break;
    case DType::kF16:
      for (const float v : x)
        store(to_f16(v).bits, to);
      break;
    case DType::kBf16:
      for (const float v : x)
        store(to_bf16(v).bits, to);
      break;
    default:
      for (size_t i = 0; i + kBlock <= x.size(); i += kBlock) {
        encode_block(type, x.subspan(i).first<kBlock>(), to);
      }
  }
  return true;
}

float int8_row_scale(std::span<const float> x) {
  float largest = 0;
  for (const float v : x)
    largest = std::max(largest, std::fabs(v));
  if (largest == 0) return 1;
  // Keeps the scale finite for rows of tiny values.
  return 127.0f / std::max(largest, 127.0f / std::numeric_limits<float>::max());
}

void encode_int8_row(std::span<const float> x, float scale, std::span<std::byte> out) {
  for (size_t i = 0; i < x.size(); ++i) {
    const float q = std::clamp(std::nearbyint(x[i] * scale), -127.0f, 127.0f);
    out[i] = static_cast<std::byte>(static_cast<int8_t>(q));
  }
}

}  // namespace sotto::models
