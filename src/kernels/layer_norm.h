// Layer normalisation of rows, written in the precisions that the next product needs.
#ifndef SOTTO_KERNELS_LAYER_NORM_H_
#define SOTTO_KERNELS_LAYER_NORM_H_

#include <cstdint>

namespace sotto::kernels {

struct LayerNormArgs {
  int64_t rows = 0;
  int64_t cols = 0;
  const float* x = nullptr;  ///< [rows, ldx]
  int64_t ldx = 0;
  const float* gamma = nullptr;  ///< [cols]
  const float* beta = nullptr;   ///< [cols]; null: no shift
  float epsilon = 1e-5f;
  float* y =
      nullptr;  ///< [rows, ldy], f32; never null: u8 and bf16 are made from it. ldy 0: one row of
  int64_t ldy = 0;          ///< scratch that every row overwrites
  uint16_t* y16 = nullptr;  ///< [rows, ldy16], bf16 bits; may be null
  int64_t ldy16 = 0;
  uint8_t* y8 = nullptr;  ///< [rows, ldy8], as quantize_u8 (convert.h); may be null
  int64_t ldy8 = 0;
  float* y8_scale = nullptr;   ///< [rows]
  int32_t* y8_zero = nullptr;  ///< [rows]
};

/// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, variance over cols (biased), two
/// passes. Error of y: at most 1e-6 * (|gamma| * (|x - mean| / sigma + 1) + |beta|) * sqrt(cols). y
/// may be x. Serial, thread-safe.
struct LayerNormKernel {
  const char* name = nullptr;
  void (*run)(const LayerNormArgs&) = nullptr;
};

}  // namespace sotto::kernels

#endif  // SOTTO_KERNELS_LAYER_NORM_H_
