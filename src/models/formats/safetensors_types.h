// Names of element types in safetensors headers.
#ifndef SOTTO_MODELS_FORMATS_SAFETENSORS_TYPES_H_
#define SOTTO_MODELS_FORMATS_SAFETENSORS_TYPES_H_

#include <string_view>

#include "base/dtype.h"
#include "sotto/status.h"

namespace sotto::models {

/// The type named "F16", …; a type that safetensors defines and sotto cannot read is kUnsupported,
/// any other kCorrupt.
Result<DType> safetensors_dtype(std::string_view name);

/// safetensors' name of `type`; "" for block formats.
std::string_view safetensors_name(DType type);

}  // namespace sotto::models

#endif  // SOTTO_MODELS_FORMATS_SAFETENSORS_TYPES_H_
