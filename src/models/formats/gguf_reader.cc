// GGUF versions 2 and 3. Source: the specification, docs/gguf.md of ggml-org/ggml.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "models/formats/byte_reader.h"
#include "models/formats/ggml_types.h"
#include "models/formats/gguf_metadata.h"
#include "models/formats/model_file.h"
#include "models/formats/tensor_index.h"

namespace sotto::models {
namespace {

constexpr uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr uint32_t kOldestVersion = 2;   // version 1 had 32-bit counts
constexpr uint32_t kNewestVersion = 3;
constexpr uint64_t kMinTensorInfoBytes = 8 + 4 + 4 + 8;
constexpr uint64_t kMinKeyValueBytes = 8 + 4 + 1;
constexpr uint64_t kDefaultAlignment = 32;
constexpr uint64_t kMaxAlignment = 1 << 20;

struct TensorInfo {
  std::string name;
  TensorView view;  ///< Without bytes
  uint64_t offset;  ///< From the start of the data section
  uint64_t size;
};

bool is_readable(uint32_t version) {
  return version >= kOldestVersion && version <= kNewestVersion;
}

Status check_version(uint32_t version) {
  if (is_readable(version)) return {};
  if (is_readable(__builtin_bswap32(version))) {
    return unsupported("a big-endian GGUF file; sotto reads little-endian ones");
  }
  return unsupported("GGUF version " + std::to_string(version) + "; sotto reads versions " +
                     std::to_string(kOldestVersion) + " and " + std::to_string(kNewestVersion));
}

Result<uint64_t> alignment_of(const ModelFile& file) {
  const auto found = file.metadata.find("general.alignment");
  if (found == file.metadata.end()) return kDefaultAlignment;
  const auto* value = std::get_if<uint64_t>(&found->second);
  if (value == nullptr || !std::has_single_bit(*value) || *value > kMaxAlignment) {
    return corrupt("general.alignment must be a power of two up to " +
                   std::to_string(kMaxAlignment));
  }
  return *value;
}

/// Shape, type and offset of one tensor.
Status read_tensor_info(ByteReader& in, TensorInfo& info) {
  SOTTO_ASSIGN_OR_RETURN(const uint32_t rank, in.number<uint32_t>("its rank"));
  if (rank > kMaxRank) return corrupt("it has " + std::to_string(rank) + " dimensions");
  for (uint32_t i = 0; i < rank; ++i) {
    SOTTO_ASSIGN_OR_RETURN(const uint64_t dim, in.number<uint64_t>("its shape"));
    if (dim > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return corrupt("a dimension is " + std::to_string(dim));
    }
    info.view.dims.push_back(static_cast<int64_t>(dim));
  }
  std::reverse(info.view.dims.begin(), info.view.dims.end());  // the file has the innermost first
  SOTTO_ASSIGN_OR_RETURN(const uint32_t code, in.number<uint32_t>("its type"));
  SOTTO_ASSIGN_OR_RETURN(info.view.dtype, ggml_dtype(code));
  SOTTO_ASSIGN_OR_RETURN(info.offset, in.number<uint64_t>("its offset"));
  SOTTO_ASSIGN_OR_RETURN(const int64_t size, tensor_bytes(info.view.dtype, info.view.dims));
  info.size = static_cast<uint64_t>(size);
  return {};
}

/// Views into `data`, after checking that every tensor lies in it, is aligned, and shares no byte
/// with another.
Status place_tensors(std::vector<TensorInfo> infos, std::span<const std::byte> data,
                     uint64_t alignment, ModelFile& out) {
  std::sort(infos.begin(), infos.end(),
            [](const TensorInfo& a, const TensorInfo& b) { return a.offset < b.offset; });
  const TensorInfo* previous = nullptr;  // the last one that is not empty
  for (TensorInfo& info : infos) {
    const std::string name = "tensor " + printable(info.name);
    if (info.offset % alignment != 0) {
      return corrupt(name + " begins at offset " + std::to_string(info.offset) +
                     ", which is no multiple of " + std::to_string(alignment));
    }
    if (info.offset > data.size() || info.size > data.size() - info.offset) {
      return corrupt(name + " takes " + std::to_string(info.size) + " bytes at offset " +
                     std::to_string(info.offset) + " of the data, which has " +
                     std::to_string(data.size()) + " (an incomplete download?)");
    }
    if (previous != nullptr && previous->offset + previous->size > info.offset) {
      return corrupt(name + " overlaps tensor " + printable(previous->name));
    }
    info.view.bytes = data.subspan(info.offset, info.size);
    if (info.size != 0) previous = &info;
  }
  for (TensorInfo& info : infos) {
    SOTTO_RETURN_IF_ERROR(add_tensor(out, std::move(info.name), std::move(info.view)));
  }
  return {};
}

}  // namespace

Status read_gguf(std::span<const std::byte> bytes, ModelFile& out) {
  out.format = FileFormat::kGguf;
  ByteReader in(bytes);
  SOTTO_ASSIGN_OR_RETURN(const uint32_t magic, in.number<uint32_t>("the magic number"));
  if (magic != kMagic) return corrupt("the magic number is not GGUF's");
  SOTTO_ASSIGN_OR_RETURN(const uint32_t version, in.number<uint32_t>("the version"));
  SOTTO_RETURN_IF_ERROR(check_version(version));
  SOTTO_ASSIGN_OR_RETURN(const uint64_t tensor_count, in.number<uint64_t>("the number of tensors"));
  SOTTO_ASSIGN_OR_RETURN(const uint64_t pair_count,
                         in.number<uint64_t>("the number of metadata keys"));
  if (tensor_count > in.left() / kMinTensorInfoBytes ||
      pair_count > in.left() / kMinKeyValueBytes) {
    return corrupt("the file claims " + std::to_string(tensor_count) + " tensors and " +
                   std::to_string(pair_count) + " metadata keys, but only " +
                   std::to_string(in.left()) + " bytes are left (an incomplete download?)");
  }
  SOTTO_RETURN_IF_ERROR(read_gguf_metadata(in, pair_count, out));
  SOTTO_ASSIGN_OR_RETURN(const uint64_t alignment, alignment_of(out));

  std::vector<TensorInfo> infos;
  for (uint64_t i = 0; i < tensor_count; ++i) {
    TensorInfo info;
    SOTTO_ASSIGN_OR_RETURN(
        info.name, read_gguf_string(in, "the name of tensor " + std::to_string(i), kMaxNameBytes));
    SOTTO_RETURN_IF_ERROR(
        read_tensor_info(in, info).with_context("tensor " + printable(info.name)));
    infos.push_back(std::move(info));
  }
  const uint64_t padding = (alignment - in.position() % alignment) % alignment;
  // Without tensors there is no data section to align.
  if (!infos.empty())
    SOTTO_RETURN_IF_ERROR(in.take(padding, "the padding before the data").status());
  return place_tensors(std::move(infos), bytes.subspan(in.position()), alignment, out);
}

}  // namespace sotto::models
