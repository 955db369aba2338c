// Source: the format section of the README of huggingface/safetensors.
#include <nlohmann/json.hpp>

#include "models/formats/safetensors_types.h"
#include "models/formats/tensor_index.h"
#include "models/formats/tensor_output.h"

namespace sotto::models {
namespace {

constexpr size_t kAlignment = 8;  // of the data; the header is padded with spaces

Result<std::string> make_header(const std::vector<OutputTensor>& tensors,
                                const std::map<std::string, std::string>& metadata) {
  nlohmann::json header = nlohmann::json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  int64_t offset = 0;
  for (const OutputTensor& tensor : tensors) {
    const std::string_view type = safetensors_name(tensor.dtype);
    if (type.empty()) {
      return invalid_argument("tensor " + printable(tensor.name) + ": safetensors has no type " +
                              std::string(dtype_info(tensor.dtype).name));
    }
    SOTTO_ASSIGN_OR_RETURN(const int64_t bytes, tensor_bytes(tensor.dtype, tensor.dims));
    header[tensor.name] = {
        {"dtype", type}, {"shape", tensor.dims}, {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  return text;
}

}  // namespace

Status write_safetensors(const std::string& path, const std::vector<OutputTensor>& tensors,
                         const std::map<std::string, std::string>& metadata) {
  SOTTO_RETURN_IF_ERROR(check_output_tensors(tensors));
  SOTTO_ASSIGN_OR_RETURN(const std::string header, make_header(tensors, metadata));
  SOTTO_ASSIGN_OR_RETURN(OutputFile out, OutputFile::create(path));
  SOTTO_RETURN_IF_ERROR(out.write_number(uint64_t{header.size()}));
  SOTTO_RETURN_IF_ERROR(out.write(header));
  for (const OutputTensor& tensor : tensors)
    SOTTO_RETURN_IF_ERROR(write_tensor_data(tensor, out));
  return out.commit();
}

}  // namespace sotto::models
