// ggml's tensor type codes, shared by whisper.cpp's .bin and GGUF.
#ifndef SOTTO_MODELS_FORMATS_GGML_TYPES_H_
#define SOTTO_MODELS_FORMATS_GGML_TYPES_H_

#include <cstdint>
#include <optional>

#include "base/dtype.h"
#include "sotto/status.h"

namespace sotto::models {

/// The type of ggml's code; a known type that sotto cannot read is kUnsupported by name, an unknown
/// code kCorrupt.
Result<DType> ggml_dtype(uint32_t code);

/// ggml's code of `type`; nothing for types that ggml lacks (u8, bool).
std::optional<uint32_t> ggml_code(DType type);

}  // namespace sotto::models

#endif  // SOTTO_MODELS_FORMATS_GGML_TYPES_H_
