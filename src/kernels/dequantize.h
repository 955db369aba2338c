// Rows of any weight type to f32.
#ifndef SOTTO_KERNELS_DEQUANTIZE_H_
#define SOTTO_KERNELS_DEQUANTIZE_H_

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"
#include "kernels/convert.h"

namespace sotto::kernels {

/// Whether dequantize_row knows the type: f32, f16, bf16, f64, i8, q4_0, q4_1, q5_0, q5_1, q8_0.
bool can_dequantize(DType type);

/// y [n] = the n elements at `bytes` (dtype_bytes(type, n) of them, any alignment); n is a multiple
/// of the type's block. kI8 gives q / scale (CTranslate2's convention), every other type ignores
/// `scale`. Only for can_dequantize(type). Source of the block formats: ggml-org/ggml,
/// ggml-common.h. Exact up to the rounding of one f32 multiply-add. Serial, thread-safe.
void dequantize_row(const ConvertKernels& convert, DType type, const std::byte* bytes, int64_t n,
                    float scale, float* y);

}  // namespace sotto::kernels

#endif  // SOTTO_KERNELS_DEQUANTIZE_H_
