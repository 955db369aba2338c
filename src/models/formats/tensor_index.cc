#include "models/formats/tensor_index.h"

#include <utility>

#include "base/utf8.h"

namespace sotto::models {
namespace {

constexpr size_t kMaxPrinted = 120;

}  // namespace

std::string printable(std::string_view name) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  while (!name.empty() && out.size() < kMaxPrinted) {
    const Utf8Char next = utf8_decode(name, 0);
    // C1 controls (U+0080..U+009F) drive some terminals, too.
    const bool control = next.code < 0x20 || (next.code >= 0x7F && next.code < 0xA0);
    if (next.valid && !control) {
      out += name.substr(0, next.length);
      name.remove_prefix(next.length);
    } else {
      const auto byte = static_cast<unsigned char>(name[0]);
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
      name.remove_prefix(1);
    }
  }
  return out + (name.empty() ? "\"" : "…\"");
}

std::string shape_text(std::span<const int64_t> dims) {
  std::string out = "[";
  for (const int64_t dim : dims) {
    if (out.size() > 1) out += ", ";
    out += std::to_string(dim);
  }
  return out + "]";
}

std::optional<int64_t> element_count(std::span<const int64_t> dims) {
  int64_t count = 1;
  bool empty = false;
  for (const int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    // A zero elsewhere must not hide dimensions whose product overflows.
    if (dim == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(count, dim, &count)) {
      return std::nullopt;
    }
  }
  return empty ? 0 : count;
}

Result<int64_t> tensor_bytes(DType type, std::span<const int64_t> dims) {
  const std::string what = std::string(dtype_info(type).name) + " of shape " + shape_text(dims);
  const std::optional<int64_t> elements = element_count(dims);
  if (!elements.has_value()) return corrupt("the shape is impossible: " + what);
  const int block = dtype_info(type).block_elements;
  const int64_t row = dims.empty() ? 1 : dims.back();
  if (row % block != 0) {
    return corrupt("rows must be whole blocks of " + std::to_string(block) + " elements: " + what);
  }
  const int64_t bytes = dtype_bytes(type, *elements);
  if (bytes < 0) return corrupt("the shape is impossible: " + what);
  return bytes;
}

Status add_tensor(ModelFile& out, std::string name, TensorView view) {
  if (name.empty()) return corrupt("a tensor has no name");
  const auto [where, added] = out.tensors.try_emplace(std::move(name), std::move(view));
  if (!added) return corrupt("two tensors are named " + printable(where->first));
  return {};
}

}  // namespace sotto::models
