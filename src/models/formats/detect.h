// Which format a file is in, by its first bytes, and what people save or pass by mistake instead of
// a model.
#ifndef SOTTO_MODELS_FORMATS_DETECT_H_
#define SOTTO_MODELS_FORMATS_DETECT_H_

#include <cstddef>
#include <span>

#include "models/formats/model_file.h"
#include "sotto/status.h"

namespace sotto::models {

/// The format that `bytes` begin like (their body is not checked), or an error that says what the
/// file is instead and what to do. The message does not name the file.
Result<FileFormat> detect_format(std::span<const std::byte> bytes);

/// Whether `bytes` look like a JSON object, e.g. model.safetensors.index.json.
bool looks_like_json(std::span<const std::byte> bytes);

}  // namespace sotto::models

#endif  // SOTTO_MODELS_FORMATS_DETECT_H_
