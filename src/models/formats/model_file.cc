#include "models/formats/model_file.h"

#include <filesystem>
#include <utility>

#include "models/formats/detect.h"
#include "models/formats/folder.h"
#include "models/formats/sharded_safetensors.h"
#include "models/formats/tensor_index.h"

namespace sotto::models {
namespace {

Status read_as(FileFormat format, std::span<const std::byte> bytes, ModelFile& out) {
  switch (format) {
    case FileFormat::kCTranslate2:
      return read_ctranslate2(bytes, out);
    case FileFormat::kGgml:
      return read_ggml(bytes, out);
    case FileFormat::kGguf:
      return read_gguf(bytes, out);
    case FileFormat::kSafetensors:
      return read_safetensors(bytes, out);
  }
  return internal_error("unknown file format");
}

Result<ModelFile> open_single_file(const std::string& path, MappedFile file) {
  const Result<FileFormat> format = detect_format(file.bytes());
  if (!format.ok()) return format.status().with_context(path);
  ModelFile model;
  model.path = path;
  const Status status = read_as(*format, file.bytes(), model);
  if (!status.ok()) {
    return status.with_context(path + " (" + std::string(file_format_name(*format)) + ")");
  }
  model.files.push_back(std::move(file));
  return model;
}

}  // namespace

std::string_view file_format_name(FileFormat format) {
  switch (format) {
    case FileFormat::kCTranslate2:
      return "ctranslate2";
    case FileFormat::kGgml:
      return "ggml";
    case FileFormat::kGguf:
      return "gguf";
    case FileFormat::kSafetensors:
      return "safetensors";
  }
  return "unknown";
}

Result<TensorView> ModelFile::tensor(std::string_view name) const {
  const auto found = tensors.find(name);
  if (found == tensors.end()) return not_found(path + ": no tensor is named " + printable(name));
  return found->second;
}

Result<TensorView> ModelFile::tensor(std::string_view name,
                                     const std::vector<int64_t>& dims) const {
  SOTTO_ASSIGN_OR_RETURN(TensorView view, tensor(name));
  if (view.dims != dims) {
    return corrupt(path + ": tensor " + printable(name) + " has shape " + shape_text(view.dims) +
                   ", but " + shape_text(dims) + " is needed");
  }
  return view;
}

Result<ModelFile> open_model_file(const std::string& path) {
  std::error_code ignored;
  std::string file_path = path;
  if (std::filesystem::is_directory(path, ignored)) {
    SOTTO_ASSIGN_OR_RETURN(file_path, find_model_in_folder(path));
  }
  SOTTO_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(file_path));
  if (is_shard_index(file.bytes())) return open_sharded_safetensors(file_path, file.bytes());
  return open_single_file(file_path, std::move(file));
}

}  // namespace sotto::models
