#include "models/formats/tensor_output.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>

#include "models/formats/tensor_index.h"

namespace sotto::models {

OutputTensor output_tensor(std::string name, DType dtype, std::vector<int64_t> dims,
                           std::vector<std::byte> bytes) {
  OutputTensor tensor{std::move(name), dtype, std::move(dims), nullptr};
  const auto kept = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  tensor.write_row = [kept](int64_t row, std::span<std::byte> out) -> Status {
    const size_t begin = static_cast<size_t>(row) * out.size();
    if (begin + out.size() > kept->size()) return internal_error("too few bytes for its shape");
    std::copy_n(kept->begin() + static_cast<ptrdiff_t>(begin), out.size(), out.begin());
    return {};
  };
  return tensor;
}

Status check_output_tensors(const std::vector<OutputTensor>& tensors) {
  std::set<std::string_view> names;
  for (const OutputTensor& tensor : tensors) {
    if (tensor.name.empty() || tensor.name.size() > kMaxNameBytes) {
      return invalid_argument("a tensor's name must have 1 to " + std::to_string(kMaxNameBytes) +
                              " bytes");
    }
    if (!names.insert(tensor.name).second) {
      return invalid_argument("two tensors are named " + printable(tensor.name));
    }
    const Result<int64_t> bytes = tensor_bytes(tensor.dtype, tensor.dims);
    if (!bytes.ok())
      return invalid_argument("tensor " + printable(tensor.name) + ": " + bytes.status().message());
  }
  return {};
}

Status write_tensor_data(const OutputTensor& tensor, OutputFile& out) {
  SOTTO_ASSIGN_OR_RETURN(const int64_t bytes, tensor_bytes(tensor.dtype, tensor.dims));
  if (bytes == 0) return {};
  std::vector<std::byte> row(static_cast<size_t>(bytes / tensor.rows()));
  for (int64_t i = 0; i < tensor.rows(); ++i) {
    SOTTO_RETURN_IF_ERROR(
        tensor.write_row(i, row).with_context("tensor " + printable(tensor.name)));
    SOTTO_RETURN_IF_ERROR(out.write(row));
  }
  return {};
}

}  // namespace sotto::models
