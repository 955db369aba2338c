// Conversions of rows between f32, bf16, f16 and int8.
#ifndef SOTTO_KERNELS_CONVERT_H_
#define SOTTO_KERNELS_CONVERT_H_

#include <cstdint>

namespace sotto::kernels {

/// Serial, thread-safe; source and destination must not overlap; element alignment suffices.
struct ConvertKernels {
  const char* name = nullptr;

  /// Round to nearest even; NaN stays NaN. Implementations may flush subnormal f32 to zero.
  void (*f32_to_bf16)(const float* x, int64_t n, uint16_t* y) = nullptr;
  /// x: n 2-byte values at any address.
  void (*bf16_to_f32)(const void* x, int64_t n, float* y) = nullptr;
  void (*f16_to_f32)(const void* x, int64_t n, float* y) = nullptr;

  /// x = (y - zero) * scale within scale / 2: scale = (hi - lo) / 255 with lo = min(0, x), hi =
  /// max(0, x), and zero the code of 0.0. All implementations give the same codes. A row of zeros
  /// gives scale 0 and codes 0.
  void (*quantize_u8)(const float* x, int64_t n, uint8_t* y, float* scale, int32_t* zero) = nullptr;

  /// x = y * scale within scale / 2: scale = max |x| / 127; sum = the sum of y. For weight rows.
  void (*quantize_s8)(const float* x, int64_t n, int8_t* y, float* scale, int32_t* sum) = nullptr;
};

}  // namespace sotto::kernels

#endif  // SOTTO_KERNELS_CONVERT_H_
