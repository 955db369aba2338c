#include "models/formats/safetensors_types.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "models/formats/tensor_index.h"

namespace sotto::models {
namespace {

constexpr std::array<std::pair<std::string_view, DType>, 10> kTypes = {{
    {"F32", DType::kF32},
    {"F16", DType::kF16},
    {"BF16", DType::kBf16},
    {"F64", DType::kF64},
    {"I8", DType::kI8},
    {"I16", DType::kI16},
    {"I32", DType::kI32},
    {"I64", DType::kI64},
    {"U8", DType::kU8},
    {"BOOL", DType::kBool},
}};

// Source: the Dtype list of huggingface/safetensors.
constexpr std::array<std::string_view, 10> kUnreadable = {
    "U16", "U32", "U64", "F8_E5M2", "F8_E4M3", "F8_E8M0", "F4", "F6_E2M3", "F6_E3M2", "C64"};

}  // namespace

Result<DType> safetensors_dtype(std::string_view name) {
  for (const auto& [type_name, type] : kTypes) {
    if (type_name == name) return type;
  }
  if (std::find(kUnreadable.begin(), kUnreadable.end(), name) != kUnreadable.end()) {
    return unsupported("sotto cannot read the type " + std::string(name) +
                       "; get the model as F16, BF16 or F32");
  }
  return corrupt("unknown type " + printable(name));
}

std::string_view safetensors_name(DType type) {
  for (const auto& [name, row_type] : kTypes) {
    if (row_type == type) return name;
  }
  return "";
}

}  // namespace sotto::models
