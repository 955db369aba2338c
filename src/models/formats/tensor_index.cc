#include "models/formats/tensor_index.h"

#include <array>
#include <utility>

namespace sotto::models {
namespace {

constexpr size_t kMaxPrinted = 120;

/// Length of the well-formed UTF-8 character at the start of `text`, 0 when there is none.
/// Source: Unicode 15, table 3-7.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
      (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) {
    return 0;
  }
  return length;
}

}  // namespace

std::string printable(std::string_view name) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  while (!name.empty() && out.size() < kMaxPrinted) {
    const size_t length = utf8_length(name);
    const auto lead = static_cast<unsigned char>(name[0]);
    // C1 controls (U+0080..U+009F) drive some terminals, too.
    const bool control =
        lead < 0x20 || lead == 0x7F ||
        (length == 2 && lead == 0xC2 && static_cast<unsigned char>(name[1]) < 0xA0);
    if (length == 0 || control) {
      out += {'\\', 'x', kHex[lead >> 4], kHex[lead & 15]};
      name.remove_prefix(1);
    } else {
      out += name.substr(0, length);
      name.remove_prefix(length);
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
