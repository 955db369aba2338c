// f32 rows to the element types of model files: the inverse of kernels/dequantize.h.
#ifndef SOTTO_MODELS_FORMATS_ENCODE_H_
#define SOTTO_MODELS_FORMATS_ENCODE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/dtype.h"

namespace sotto::models {

/// Whether encode_row() knows the type: f32, f16, bf16, q4_0, q4_1, q5_0, q5_1, q8_0.
bool can_encode(DType type);

/// Writes dtype_bytes(type, x.size()) bytes to `out`; x.size() is a multiple of the type's block.
/// False when a value is not finite or does not fit the type (f16 ends at 65504). Block formats
/// pick the scale of each block of 32 as ggml-org/ggml's reference does: q8_0 max |x| / 127; q4_0
/// and q5_0 the value farthest from 0 over -8 and -16; q4_1 and q5_1 (max - min) / 15 and / 31.
bool encode_row(DType type, std::span<const float> x, std::span<std::byte> out);

/// CTranslate2's scale of a row of int8 weights, 127 / max |x| (1 for a row of zeros); x = q /
/// scale.
float int8_row_scale(std::span<const float> x);

/// q = round(x * scale), ties to even. `out` has x.size() bytes.
void encode_int8_row(std::span<const float> x, float scale, std::span<std::byte> out);

}  // namespace sotto::models

#endif  // SOTTO_MODELS_FORMATS_ENCODE_H_
