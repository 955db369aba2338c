#include "models/convert/targets.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace sotto::convert {
namespace {

using models::FileFormat;

struct FormatName {
  std::string_view name;
  FileFormat format;
};
constexpr std::array<FormatName, 5> kFormats = {{{"ggml", FileFormat::kGgml},
                                                 {"ctranslate2", FileFormat::kCTranslate2},
                                                 {"ct2", FileFormat::kCTranslate2},
                                                 {"safetensors", FileFormat::kSafetensors},
                                                 {"hf", FileFormat::kSafetensors}}};

struct TypeRow {
  FileFormat format;
  std::string_view name, other_name;
  Encoding encoding;
};
// whisper.cpp keeps vectors and positions in f32 whatever the type of the matrices.
constexpr std::array<TypeRow, 16> kTypes = {{
    {FileFormat::kGgml, "f32", "float32", {DType::kF32, DType::kF32}},
    {FileFormat::kGgml, "f16", "float16", {DType::kF16, DType::kF32}},
    {FileFormat::kGgml, "q4_0", "", {DType::kQ4_0, DType::kF32}},
    {FileFormat::kGgml, "q4_1", "", {DType::kQ4_1, DType::kF32}},
    {FileFormat::kGgml, "q5_0", "", {DType::kQ5_0, DType::kF32}},
    {FileFormat::kGgml, "q5_1", "", {DType::kQ5_1, DType::kF32}},
    {FileFormat::kGgml, "q8_0", "", {DType::kQ8_0, DType::kF32}},
    {FileFormat::kCTranslate2, "f32", "float32", {DType::kF32, DType::kF32}},
    {FileFormat::kCTranslate2, "f16", "float16", {DType::kF16, DType::kF16}},
    {FileFormat::kCTranslate2, "bf16", "bfloat16", {DType::kBf16, DType::kBf16}},
    {FileFormat::kCTranslate2, "int8", "int8_float32", {DType::kI8, DType::kF32}},
    {FileFormat::kCTranslate2, "int8_f16", "int8_float16", {DType::kI8, DType::kF16}},
    {FileFormat::kCTranslate2, "int8_bf16", "int8_bfloat16", {DType::kI8, DType::kBf16}},
    {FileFormat::kSafetensors, "f32", "float32", {DType::kF32, DType::kF32}},
    {FileFormat::kSafetensors, "f16", "float16", {DType::kF16, DType::kF16}},
    {FileFormat::kSafetensors, "bf16", "bfloat16", {DType::kBf16, DType::kBf16}},
}};

std::string type_names(FileFormat format) {
  std::string out;
  for (const TypeRow& row : kTypes) {
    if (row.format == format) out += (out.empty() ? "" : ", ") + std::string(row.name);
  }
  return out;
}

}  // namespace

Result<Target> parse_target(const ConvertOptions& options) {
  const auto* format = std::find_if(kFormats.begin(), kFormats.end(), [&](const FormatName& row) {
    return row.name == options.format;
  });
  if (format == kFormats.end()) {
    return invalid_argument("unknown format '" + options.format +
                            "'\nuse ggml, ctranslate2 (ct2) or safetensors (hf)");
  }
  for (const TypeRow& row : kTypes) {
    const bool named =
        row.name == options.type || (!row.other_name.empty() && row.other_name == options.type);
    if (row.format == format->format && named) return Target{row.format, row.encoding};
  }
  return invalid_argument(std::string(models::file_format_name(format->format)) + " has no type '" +
                          options.type + "'\nuse one of " + type_names(format->format));
}

std::vector<std::string> output_files(FileFormat format) {
  switch (format) {
    case FileFormat::kCTranslate2:
      return {"model.bin", "config.json", "preprocessor_config.json", "tokenizer.json",
              "vocabulary.json"};
    case FileFormat::kSafetensors:
      return {"model.safetensors",
              "config.json",
              "generation_config.json",
              "preprocessor_config.json",
              "tokenizer_config.json",
              "tokenizer.json",
              "vocab.json",
              "merges.txt",
              "added_tokens.json"};
    default:
      return {""};
  }
}

}  // namespace sotto::convert
