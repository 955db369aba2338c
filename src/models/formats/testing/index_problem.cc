#include "models/formats/testing/index_problem.h"

#include "models/formats/tensor_index.h"

namespace sotto::models::testing {
namespace {

bool lies_in(std::span<const std::byte> part, std::span<const std::byte> whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

}  // namespace

std::string index_problem(const ModelFile& file, std::span<const std::byte> bytes) {
  for (const auto& [name, view] : file.tensors) {
    const Result<int64_t> size = tensor_bytes(view.dtype, view.dims);
    if (!size.ok()) return printable(name) + ": " + size.status().message();
    if (static_cast<uint64_t>(*size) != view.bytes.size())
      return printable(name) + " has the wrong number of bytes";
    if (!lies_in(view.bytes, bytes)) return printable(name) + " leaves the file";
    if (view.row_scales.empty()) continue;
    if (!lies_in(view.row_scales, bytes))
      return "the scales of " + printable(name) + " leave the file";
    if (view.row_scales.size() != 4 * static_cast<uint64_t>(view.rows())) {
      return printable(name) + " has the wrong number of scales";
    }
  }
  return "";
}

}  // namespace sotto::models::testing
