// CTranslate2's codes of element types and what reader and writer of model.bin agree on.
#ifndef SOTTO_MODELS_FORMATS_CTRANSLATE2_TYPES_H_
#define SOTTO_MODELS_FORMATS_CTRANSLATE2_TYPES_H_

#include <array>
#include <cstdint>

#include "base/dtype.h"

namespace sotto::models {

/// By code. Source: the DataType enum of OpenNMT/CTranslate2.
inline constexpr std::array<DType, 6> kCTranslate2Types = {DType::kF32, DType::kI8,  DType::kI16,
                                                           DType::kI32, DType::kF16, DType::kBf16};
/// A quantised weight NAME has its scales in NAME_scale.
inline constexpr const char* kCTranslate2ScaleSuffix = "_scale";
inline constexpr uint32_t kCTranslate2NewestVersion = 6;

}  // namespace sotto::models

#endif  // SOTTO_MODELS_FORMATS_CTRANSLATE2_TYPES_H_
