// Source: models/convert-pt-to-ggml.py and the loader of ggml-org/whisper.cpp.
#include <algorithm>
#include <limits>

#include "models/formats/ggml_header.h"
#include "models/formats/ggml_types.h"
#include "models/formats/tensor_index.h"
#include "models/formats/tensor_output.h"

namespace sotto::models {
namespace {

constexpr size_t kMaxGgmlRank = 4;

Status check_tensor(const OutputTensor& tensor) {
  const std::string context = "tensor " + printable(tensor.name);
  if (!ggml_code(tensor.dtype).has_value()) {
    return invalid_argument(context + ": ggml has no type " +
                            std::string(dtype_info(tensor.dtype).name));
  }
  const bool fits = tensor.dims.size() <= kMaxGgmlRank &&
                    std::all_of(tensor.dims.begin(), tensor.dims.end(), [](int64_t dim) {
                      return dim <= std::numeric_limits<int32_t>::max();
                    });
  return fits ? Status()
              : invalid_argument(context + ": ggml cannot hold the shape " +
                                 shape_text(tensor.dims));
}

Status write_header(const GgmlContents& contents, OutputFile& out) {
  SOTTO_RETURN_IF_ERROR(out.write_number(kGgmlMagic));
  for (const std::string_view name : kGgmlHeader) {
    const auto found = contents.header.find(std::string(name));
    if (found == contents.header.end())
      return invalid_argument("the header lacks " + std::string(name));
    SOTTO_RETURN_IF_ERROR(out.write_number(found->second));
  }
  const auto n_mels = contents.header.find("n_mels")->second;
  if (contents.mel_filters.size() !=
      static_cast<size_t>(n_mels) * static_cast<size_t>(contents.mel_filter_bins)) {
    return invalid_argument("the mel filters are not [n_mels, mel_filter_bins]");
  }
  SOTTO_RETURN_IF_ERROR(out.write_number(n_mels));
  SOTTO_RETURN_IF_ERROR(out.write_number(contents.mel_filter_bins));
  return out.write(std::as_bytes(std::span(contents.mel_filters)));
}

Status write_vocabulary(const std::vector<std::string>& vocabulary, OutputFile& out) {
  SOTTO_RETURN_IF_ERROR(out.write_number(static_cast<int32_t>(vocabulary.size())));
  for (const std::string& token : vocabulary) {
    SOTTO_RETURN_IF_ERROR(out.write_number(static_cast<uint32_t>(token.size())));
    SOTTO_RETURN_IF_ERROR(out.write(token));
  }
  return {};
}

Status write_tensor(const OutputTensor& tensor, OutputFile& out) {
  SOTTO_RETURN_IF_ERROR(out.write_number(static_cast<int32_t>(tensor.dims.size())));
  SOTTO_RETURN_IF_ERROR(out.write_number(static_cast<int32_t>(tensor.name.size())));
  SOTTO_RETURN_IF_ERROR(out.write_number(static_cast<int32_t>(*ggml_code(tensor.dtype))));
  for (auto dim = tensor.dims.rbegin(); dim != tensor.dims.rend(); ++dim) {
    SOTTO_RETURN_IF_ERROR(out.write_number(static_cast<int32_t>(*dim)));
  }
  SOTTO_RETURN_IF_ERROR(out.write(tensor.name));
  return write_tensor_data(tensor, out);
}

}  // namespace

Status write_ggml(const std::string& path, const GgmlContents& contents) {
  SOTTO_RETURN_IF_ERROR(check_output_tensors(contents.tensors));
  for (const OutputTensor& tensor : contents.tensors)
    SOTTO_RETURN_IF_ERROR(check_tensor(tensor));
  SOTTO_ASSIGN_OR_RETURN(OutputFile out, OutputFile::create(path));
  SOTTO_RETURN_IF_ERROR(write_header(contents, out));
  SOTTO_RETURN_IF_ERROR(write_vocabulary(contents.vocabulary, out));
  for (const OutputTensor& tensor : contents.tensors)
    SOTTO_RETURN_IF_ERROR(write_tensor(tensor, out));
  return out.commit();
}

}  // namespace sotto::models
