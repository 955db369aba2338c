#include "models/formats/ggml_types.h"

#include <array>
#include <string>
#include <string_view>

namespace sotto::models {
namespace {

struct TypeRow {
  uint32_t code;
  std::string_view name;       ///< ggml's own
  std::optional<DType> dtype;  ///< Nothing: known, but not readable
};

// Source: the type table of ggml-org/ggml's ggml.h. Codes that were removed there are absent.
constexpr std::array<TypeRow, 35> kTypes = {{
    {0, "F32", DType::kF32},      {1, "F16", DType::kF16},       {2, "Q4_0", DType::kQ4_0},
    {3, "Q4_1", DType::kQ4_1},    {6, "Q5_0", DType::kQ5_0},     {7, "Q5_1", DType::kQ5_1},
    {8, "Q8_0", DType::kQ8_0},    {9, "Q8_1", std::nullopt},     {10, "Q2_K", DType::kQ2K},
    {11, "Q3_K", DType::kQ3K},    {12, "Q4_K", DType::kQ4K},     {13, "Q5_K", DType::kQ5K},
    {14, "Q6_K", DType::kQ6K},    {15, "Q8_K", DType::kQ8K},     {16, "IQ2_XXS", std::nullopt},
    {17, "IQ2_XS", std::nullopt}, {18, "IQ3_XXS", std::nullopt}, {19, "IQ1_S", std::nullopt},
    {20, "IQ4_NL", std::nullopt}, {21, "IQ3_S", std::nullopt},   {22, "IQ2_S", std::nullopt},
    {23, "IQ4_XS", std::nullopt}, {24, "I8", DType::kI8},        {25, "I16", DType::kI16},
    {26, "I32", DType::kI32},     {27, "I64", DType::kI64},      {28, "F64", DType::kF64},
    {29, "IQ1_M", std::nullopt},  {30, "BF16", DType::kBf16},    {34, "TQ1_0", std::nullopt},
    {35, "TQ2_0", std::nullopt},  {39, "MXFP4", DType::kMxfp4},  {40, "NVFP4", std::nullopt},
    {4, "Q4_2", std::nullopt},    {5, "Q4_3", std::nullopt},
}};

}  // namespace

Result<DType> ggml_dtype(uint32_t code) {
  for (const TypeRow& row : kTypes) {
    if (row.code != code) continue;
    if (row.dtype.has_value()) return *row.dtype;
    return unsupported("sotto cannot read ggml's type " + std::string(row.name) +
                       "; get the model in another type (F16, Q8_0, Q4_K, …)");
  }
  return corrupt("unknown ggml type code " + std::to_string(code));
}

std::optional<uint32_t> ggml_code(DType type) {
  for (const TypeRow& row : kTypes) {
    if (row.dtype == type) return row.code;
  }
  return std::nullopt;
}

}  // namespace sotto::models
