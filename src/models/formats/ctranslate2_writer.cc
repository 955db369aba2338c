// Source: python/ctranslate2/specs/model_spec.py of OpenNMT/CTranslate2.
#include <algorithm>
#include <limits>

#include "models/formats/ctranslate2_types.h"
#include "models/formats/tensor_index.h"
#include "models/formats/tensor_output.h"

namespace sotto::models {
namespace {

/// u16 length including the NUL at the end, then the bytes.
Status write_string(const std::string& text, OutputFile& out) {
  SOTTO_RETURN_IF_ERROR(out.write_number(static_cast<uint16_t>(text.size() + 1)));
  SOTTO_RETURN_IF_ERROR(out.write(text));
  return out.write_number(uint8_t{0});
}

Status check_tensor(const OutputTensor& tensor) {
  const bool known = std::find(kCTranslate2Types.begin(), kCTranslate2Types.end(), tensor.dtype) !=
                     kCTranslate2Types.end();
  if (!known) {
    return invalid_argument("tensor " + printable(tensor.name) + ": CTranslate2 has no type " +
                            std::string(dtype_info(tensor.dtype).name));
  }
  SOTTO_ASSIGN_OR_RETURN(const int64_t bytes, tensor_bytes(tensor.dtype, tensor.dims));
  const int64_t largest_dim =
      tensor.dims.empty() ? 0 : *std::max_element(tensor.dims.begin(), tensor.dims.end());
  if (std::max(bytes, largest_dim) > std::numeric_limits<uint32_t>::max()) {
    return invalid_argument("tensor " + printable(tensor.name) + " of shape " +
                            shape_text(tensor.dims) +
                            " is larger than 4 GiB, the limit of CTranslate2's format");
  }
  return {};
}

Status write_variable(const OutputTensor& tensor, OutputFile& out) {
  SOTTO_ASSIGN_OR_RETURN(const int64_t bytes, tensor_bytes(tensor.dtype, tensor.dims));
  const auto code = std::find(kCTranslate2Types.begin(), kCTranslate2Types.end(), tensor.dtype) -
                    kCTranslate2Types.begin();
  SOTTO_RETURN_IF_ERROR(write_string(tensor.name, out));
  SOTTO_RETURN_IF_ERROR(out.write_number(static_cast<uint8_t>(tensor.dims.size())));
  for (const int64_t dim : tensor.dims)
    SOTTO_RETURN_IF_ERROR(out.write_number(static_cast<uint32_t>(dim)));
  SOTTO_RETURN_IF_ERROR(out.write_number(static_cast<uint8_t>(code)));
  SOTTO_RETURN_IF_ERROR(out.write_number(static_cast<uint32_t>(bytes)));
  return write_tensor_data(tensor, out);
}

}  // namespace

Status write_ctranslate2(const std::string& path, const CTranslate2Contents& contents) {
  SOTTO_RETURN_IF_ERROR(check_output_tensors(contents.tensors));
  for (const OutputTensor& tensor : contents.tensors)
    SOTTO_RETURN_IF_ERROR(check_tensor(tensor));
  SOTTO_ASSIGN_OR_RETURN(OutputFile out, OutputFile::create(path));
  SOTTO_RETURN_IF_ERROR(out.write_number(kCTranslate2NewestVersion));
  SOTTO_RETURN_IF_ERROR(write_string(contents.spec, out));
  SOTTO_RETURN_IF_ERROR(out.write_number(contents.spec_revision));
  SOTTO_RETURN_IF_ERROR(out.write_number(static_cast<uint32_t>(contents.tensors.size())));
  for (const OutputTensor& tensor : contents.tensors)
    SOTTO_RETURN_IF_ERROR(write_variable(tensor, out));
  SOTTO_RETURN_IF_ERROR(out.write_number(static_cast<uint32_t>(contents.aliases.size())));
  for (const auto& [alias, target] : contents.aliases) {
    SOTTO_RETURN_IF_ERROR(write_string(alias, out));
    SOTTO_RETURN_IF_ERROR(write_string(target, out));
  }
  return out.commit();
}

}  // namespace sotto::models
