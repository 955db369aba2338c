// Hugging Face safetensors. Source: the format section of the README of huggingface/safetensors.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "models/formats/byte_reader.h"
#include "models/formats/model_file.h"
#include "models/formats/safetensors_types.h"
#include "models/formats/strict_json.h"
#include "models/formats/tensor_index.h"

namespace sotto::models {
namespace {

using nlohmann::json;

constexpr std::string_view kMetadataKey = "__metadata__";

struct Placed {
  uint64_t begin, end;  ///< Bytes of the data section
  std::string name;
};

/// A non-negative integer, or nothing.
std::optional<uint64_t> natural(const json& value) {
  return value.is_number_unsigned() ? std::optional(value.get<uint64_t>()) : std::nullopt;
}

/// The member `key` of `entry` when it is an array of natural numbers.
Result<std::vector<uint64_t>> naturals(const json& entry, const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_array())
    return corrupt(std::string("it has no array \"") + key + "\"");
  std::vector<uint64_t> out;
  for (const json& element : *found) {
    const std::optional<uint64_t> value = natural(element);
    if (!value.has_value() || *value > static_cast<uint64_t>(INT64_MAX)) {
      return corrupt(std::string("its \"") + key +
                     "\" has an element that is no non-negative integer");
    }
    out.push_back(*value);
  }
  return out;
}

/// The tensor that a header entry describes; `where` receives its place in `data`.
Result<TensorView> read_entry(const json& entry, std::span<const std::byte> data, Placed& where) {
  if (!entry.is_object()) return corrupt("its header entry is no object");
  TensorView view;
  const auto dtype = entry.find("dtype");
  if (dtype == entry.end() || !dtype->is_string()) return corrupt("it has no \"dtype\"");
  SOTTO_ASSIGN_OR_RETURN(view.dtype, safetensors_dtype(dtype->get_ref<const std::string&>()));

  SOTTO_ASSIGN_OR_RETURN(const std::vector<uint64_t> shape, naturals(entry, "shape"));
  if (shape.size() > kMaxRank)
    return corrupt("it has " + std::to_string(shape.size()) + " dimensions");
  view.dims.assign(shape.begin(), shape.end());
  SOTTO_ASSIGN_OR_RETURN(const int64_t size, tensor_bytes(view.dtype, view.dims));

  SOTTO_ASSIGN_OR_RETURN(const std::vector<uint64_t> offsets, naturals(entry, "data_offsets"));
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    return corrupt("its \"data_offsets\" are no [begin, end]");
  where.begin = offsets[0];
  where.end = offsets[1];
  if (where.end - where.begin != static_cast<uint64_t>(size)) {
    return corrupt("its offsets span " + std::to_string(where.end - where.begin) + " bytes, but " +
                   std::string(dtype_info(view.dtype).name) + " of shape " + shape_text(view.dims) +
                   " takes " + std::to_string(size));
  }
  if (where.end > data.size()) {
    return corrupt("it ends at byte " + std::to_string(where.end) + " of the data, which has " +
                   std::to_string(data.size()) + " (an incomplete download?)");
  }
  view.bytes = data.subspan(where.begin, where.end - where.begin);
  return view;
}

/// The format wants the data covered without overlap or gap.
Status check_coverage(std::vector<Placed>& placed, uint64_t data_size) {
  std::sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  uint64_t end = 0;
  for (const Placed& tensor : placed) {
    if (tensor.begin != end) {
      return corrupt("tensor " + printable(tensor.name) + " begins at byte " +
                     std::to_string(tensor.begin) +
                     " of the data, but the tensor before it ends at " + std::to_string(end) +
                     " (neither overlap nor gap is allowed)");
    }
    end = tensor.end;
  }
  if (end == data_size) return {};
  return corrupt(std::to_string(data_size - end) + " bytes at the end belong to no tensor");
}

Status read_metadata(const json& entry, ModelFile& out) {
  if (!entry.is_object()) return corrupt("__metadata__ is no object");
  for (const auto& [key, value] : entry.items()) {
    if (!value.is_string())
      return corrupt("__metadata__ value of " + printable(key) + " is no string");
    out.metadata[key] = value.get<std::string>();
  }
  return {};
}

}  // namespace

Status read_safetensors(std::span<const std::byte> bytes, ModelFile& out) {
  out.format = FileFormat::kSafetensors;
  ByteReader in(bytes);
  SOTTO_ASSIGN_OR_RETURN(const uint64_t length, in.number<uint64_t>("the length of the header"));
  if (length > kMaxStrictJsonBytes) {
    return corrupt("the header claims " + std::to_string(length) + " bytes (the limit is " +
                   std::to_string(kMaxStrictJsonBytes) + ")");
  }
  SOTTO_ASSIGN_OR_RETURN(const auto header_bytes, in.take(length, "the header"));
  const std::string_view text(reinterpret_cast<const char*>(header_bytes.data()),
                              header_bytes.size());
  const Result<json> header = parse_strict_json(text);
  if (!header.ok()) return header.status().with_context("the header");
  if (!header->is_object()) return corrupt("the header is no JSON object");

  const auto data = bytes.subspan(in.position());
  std::vector<Placed> placed;
  for (const auto& [name, entry] : header->items()) {
    if (name == kMetadataKey) {
      SOTTO_RETURN_IF_ERROR(read_metadata(entry, out));
      continue;
    }
    Placed where{0, 0, name};
    Result<TensorView> view = read_entry(entry, data, where);
    if (!view.ok()) return view.status().with_context("tensor " + printable(name));
    if (name.size() > kMaxNameBytes)
      return corrupt("a tensor's name is " + std::to_string(name.size()) + " bytes long");
    placed.push_back(std::move(where));
    SOTTO_RETURN_IF_ERROR(add_tensor(out, name, std::move(view).value()));
  }
  return check_coverage(placed, data.size());
}

}  // namespace sotto::models
