// 16-bit float storage types and their scalar conversions (IEEE 754 binary16 and bfloat16).
#ifndef SOTTO_BASE_FLOAT16_H_
#define SOTTO_BASE_FLOAT16_H_

#include <bit>
#include <cstdint>

namespace sotto {

/// bfloat16 storage: the upper half of a binary32.
struct Bf16 {
  uint16_t bits = 0;
};

/// IEEE binary16 storage.
struct F16 {
  uint16_t bits = 0;
};

constexpr float to_float(Bf16 v) {
  return std::bit_cast<float>(static_cast<uint32_t>(v.bits) << 16);
}

/// Round to nearest, ties to even; NaN stays NaN (quiet).
constexpr Bf16 to_bf16(float v) {
  const uint32_t u = std::bit_cast<uint32_t>(v);
  if ((u & 0x7fffffffU) > 0x7f800000U) return {static_cast<uint16_t>((u >> 16) | 0x40U)};
  return {static_cast<uint16_t>((u + 0x7fffU + ((u >> 16) & 1U)) >> 16)};
}

constexpr float to_float(F16 v) {
  const uint32_t sign = static_cast<uint32_t>(v.bits & 0x8000U) << 16;
  const uint32_t exponent = (v.bits >> 10) & 0x1fU;
  const uint32_t mantissa = v.bits & 0x3ffU;
  if (exponent == 0x1fU) return std::bit_cast<float>(sign | 0x7f800000U | (mantissa << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112U) << 23) | (mantissa << 13));
  // Subnormal: mantissa * 2^-24 is exact in binary32.
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

/// Round to nearest, ties to even; overflow gives infinity.
constexpr F16 to_f16(float v) {
  const uint32_t u = std::bit_cast<uint32_t>(v);
  const auto sign = static_cast<uint16_t>((u >> 16) & 0x8000U);
  const uint32_t magnitude = u & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return {static_cast<uint16_t>(sign | 0x7e00U)};
  if (magnitude >= 0x477ff000U)
    return {static_cast<uint16_t>(sign | 0x7c00U)};  // rounds beyond 65504
  if (magnitude <
      0x38800000U) {  // below 2^-14: subnormal result; adding 0.5 makes the FPU round at bit 2^-24
    const float rounded = std::bit_cast<float>(magnitude) + 0.5f;
    return {static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(rounded) - 0x3f000000U))};
  }
  const uint32_t odd = (magnitude >> 13) & 1U;
  return {static_cast<uint16_t>(sign | ((magnitude - 0x38000000U + 0xfffU + odd) >> 13))};
}

}  // namespace sotto

#endif  // SOTTO_BASE_FLOAT16_H_
