// CTranslate2's model.bin. Source: the layout that its own converter writes
// (python/ctranslate2/specs/model_spec.py of OpenNMT/CTranslate2), binary versions 4 to 6.
#include <cstring>
#include <utility>

#include "models/formats/byte_reader.h"
#include "models/formats/ctranslate2_types.h"
#include "models/formats/model_file.h"
#include "models/formats/tensor_index.h"

namespace sotto::models {
namespace {

constexpr uint32_t kOldestVersion =
    4;  // before it, a variable carried an item size instead of a type
constexpr uint64_t kMinVariableBytes = 2 + 1 + 1 + 4;  // empty name, scalar of no bytes
constexpr uint64_t kMinAliasBytes = 2 + 2;

/// u16 length including the NUL at the end, then the bytes.
Result<std::string> read_string(ByteReader& in, std::string_view what) {
  SOTTO_ASSIGN_OR_RETURN(const uint16_t length, in.number<uint16_t>(what));
  SOTTO_ASSIGN_OR_RETURN(std::string text, in.text(length, what));
  if (text.empty() || text.back() != '\0') {
    return corrupt(std::string(what) + " at offset " + std::to_string(in.position()) +
                   " does not end in a zero byte");
  }
  text.pop_back();
  if (text.size() > kMaxNameBytes) {
    return corrupt(std::string(what) + " is " + std::to_string(text.size()) + " bytes long");
  }
  return text;
}

Result<uint32_t> read_count(ByteReader& in, std::string_view what, uint64_t min_bytes_each) {
  SOTTO_ASSIGN_OR_RETURN(const uint32_t count,
                         in.number<uint32_t>("the number of " + std::string(what)));
  if (count > in.left() / min_bytes_each) {
    return corrupt("the file claims " + std::to_string(count) + " " + std::string(what) +
                   ", but only " + std::to_string(in.left()) +
                   " bytes are left (an incomplete download?)");
  }
  return count;
}

Result<TensorView> read_variable(ByteReader& in) {
  TensorView view;
  SOTTO_ASSIGN_OR_RETURN(const uint8_t rank, in.number<uint8_t>("its rank"));
  if (rank > kMaxRank) return corrupt("it has " + std::to_string(rank) + " dimensions");
  for (int i = 0; i < rank; ++i) {
    SOTTO_ASSIGN_OR_RETURN(const uint32_t dim, in.number<uint32_t>("its shape"));
    view.dims.push_back(dim);
  }
  SOTTO_ASSIGN_OR_RETURN(const uint8_t type, in.number<uint8_t>("its type"));
  if (type >= kCTranslate2Types.size()) return corrupt("unknown type code " + std::to_string(type));
  view.dtype = kCTranslate2Types[type];
  SOTTO_ASSIGN_OR_RETURN(const int64_t expected, tensor_bytes(view.dtype, view.dims));
  SOTTO_ASSIGN_OR_RETURN(const uint32_t bytes, in.number<uint32_t>("its size"));
  if (bytes != expected) {
    return corrupt("its size of " + std::to_string(bytes) + " bytes contradicts " +
                   std::string(dtype_info(view.dtype).name) + " of shape " + shape_text(view.dims) +
                   " (" + std::to_string(expected) + " bytes)");
  }
  SOTTO_ASSIGN_OR_RETURN(view.bytes, in.take(bytes, "its data"));
  return view;
}

/// Settings such as num_heads are integer scalars; they are offered as metadata, too.
void add_scalar_metadata(ModelFile& out, const std::string& name, const TensorView& view) {
  if (!view.dims.empty()) return;
  int64_t value = 0;
  switch (view.dtype) {
    case DType::kI8:
      value = static_cast<int8_t>(view.bytes[0]);
      break;
    case DType::kI16: {
      int16_t v;
      std::memcpy(&v, view.bytes.data(), sizeof v);
      value = v;
      break;
    }
    case DType::kI32: {
      int32_t v;
      std::memcpy(&v, view.bytes.data(), sizeof v);
      value = v;
      break;
    }
    default:
      return;
  }
  out.metadata[name] = value;
}

Status add_alias(ModelFile& out, const std::string& alias, const std::string& target) {
  const auto found = out.tensors.find(target);
  if (found == out.tensors.end()) {
    return corrupt("alias " + printable(alias) + " refers to " + printable(target) +
                   ", which is not in the file");
  }
  TensorView copy = found->second;
  return add_tensor(out, alias, std::move(copy));
}

Status read_aliases(ByteReader& in, ModelFile& out) {
  SOTTO_ASSIGN_OR_RETURN(const uint32_t count, read_count(in, "aliases", kMinAliasBytes));
  std::vector<std::pair<std::string, std::string>> aliases;
  for (uint32_t i = 0; i < count; ++i) {
    SOTTO_ASSIGN_OR_RETURN(std::string alias, read_string(in, "an alias"));
    SOTTO_ASSIGN_OR_RETURN(std::string target,
                           read_string(in, "the target of alias " + printable(alias)));
    SOTTO_RETURN_IF_ERROR(add_alias(out, alias, target));
    aliases.emplace_back(std::move(alias), std::move(target));
  }
  // The converter aliases a weight before it quantises the target, so an alias stands for the
  // target's scales, too, without saying so.
  for (const auto& [alias, target] : aliases) {
    if (!out.tensors.contains(target + kCTranslate2ScaleSuffix) ||
        out.tensors.contains(alias + kCTranslate2ScaleSuffix)) {
      continue;
    }
    SOTTO_RETURN_IF_ERROR(
        add_alias(out, alias + kCTranslate2ScaleSuffix, target + kCTranslate2ScaleSuffix));
  }
  return {};
}

/// Attaches NAME_scale to the integer tensor NAME.
Status attach_scales(ModelFile& out) {
  for (auto& [name, view] : out.tensors) {
    const auto scale = out.tensors.find(name + kCTranslate2ScaleSuffix);
    if (scale == out.tensors.end()) continue;
    const TensorView& scales = scale->second;
    if (view.dtype != DType::kI8) {
      return unsupported(
          "tensor " + printable(name) + " is quantised as " +
          std::string(dtype_info(view.dtype).name) +
          "; of CTranslate2's quantised types sotto reads int8 (convert the model again with "
          "--quantization int8 or float16)");
    }
    if (scales.dtype != DType::kF32 || view.dims.empty() || scales.elements() != view.rows()) {
      return corrupt("tensor " + printable(name) + " of shape " + shape_text(view.dims) +
                     " needs " + std::to_string(view.rows()) + " f32 scales, but " +
                     printable(scale->first) + " is " + std::string(dtype_info(scales.dtype).name) +
                     " of shape " + shape_text(scales.dims));
    }
    view.row_scales = scales.bytes;
  }
  return {};
}

}  // namespace

Status read_ctranslate2(std::span<const std::byte> bytes, ModelFile& out) {
  out.format = FileFormat::kCTranslate2;
  ByteReader in(bytes);
  SOTTO_ASSIGN_OR_RETURN(const uint32_t version, in.number<uint32_t>("the binary version"));
  if (version < kOldestVersion || version > kCTranslate2NewestVersion) {
    return unsupported("CTranslate2 binary version " + std::to_string(version) +
                       "; sotto reads versions " + std::to_string(kOldestVersion) + " to " +
                       std::to_string(kCTranslate2NewestVersion));
  }
  SOTTO_ASSIGN_OR_RETURN(std::string spec, read_string(in, "the specification's name"));
  SOTTO_ASSIGN_OR_RETURN(const uint32_t revision,
                         in.number<uint32_t>("the specification's revision"));
  out.metadata["binary_version"] = int64_t{version};
  out.metadata["spec"] = std::move(spec);
  out.metadata["spec_revision"] = int64_t{revision};

  SOTTO_ASSIGN_OR_RETURN(const uint32_t count, read_count(in, "variables", kMinVariableBytes));
  for (uint32_t i = 0; i < count; ++i) {
    SOTTO_ASSIGN_OR_RETURN(std::string name,
                           read_string(in, "the name of variable " + std::to_string(i)));
    Result<TensorView> view = read_variable(in);
    if (!view.ok()) return view.status().with_context("tensor " + printable(name));
    add_scalar_metadata(out, name, *view);
    SOTTO_RETURN_IF_ERROR(add_tensor(out, std::move(name), std::move(view).value()));
  }
  SOTTO_RETURN_IF_ERROR(read_aliases(in, out));
  if (in.left() != 0) {
    return corrupt(std::to_string(in.left()) + " bytes follow the end of the model at offset " +
                   std::to_string(in.position()));
  }
  return attach_scales(out);
}

}  // namespace sotto::models
