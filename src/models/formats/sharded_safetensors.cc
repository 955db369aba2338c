#include "models/formats/sharded_safetensors.h"

#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "models/formats/detect.h"
#include "models/formats/strict_json.h"
#include "models/formats/tensor_index.h"

namespace sotto::models {
namespace {

using nlohmann::json;

constexpr size_t kMaxShards = 4096;

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// An index must not reach outside its folder.
bool is_plain_file_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of("/\\") == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

/// Tensor name -> shard file name.
Result<std::map<std::string, std::string>> read_weight_map(std::span<const std::byte> index) {
  SOTTO_ASSIGN_OR_RETURN(const json root, parse_strict_json(as_text(index)));
  const auto found = root.find("weight_map");
  if (found == root.end() || !found->is_object() || found->empty()) {
    return corrupt("it has no \"weight_map\" of tensors to files");
  }
  std::map<std::string, std::string> out;
  for (const auto& [tensor, shard] : found->items()) {
    if (!shard.is_string())
      return corrupt("the shard of tensor " + printable(tensor) + " is no string");
    const auto& file = shard.get_ref<const std::string&>();
    if (!is_plain_file_name(file)) {
      return corrupt("the shard of tensor " + printable(tensor) + " is " + printable(file) +
                     ", which is not the name of a file in the index's folder");
    }
    out[tensor] = file;
  }
  return out;
}

/// Maps and reads one shard, whose tensors must all be assigned to it by `weight_map`.
Status add_shard(const std::string& folder, const std::string& name,
                 const std::map<std::string, std::string>& weight_map, ModelFile& out) {
  const std::string path = (std::filesystem::path(folder) / name).string();
  Result<MappedFile> file = MappedFile::open(path);
  if (!file.ok()) {
    const Status status = file.status();
    if (status.code() != StatusCode::kNotFound) return status;
    return not_found("the index lists the file " + printable(name) +
                     ", which is not in its folder; download it, too");
  }
  SOTTO_ASSIGN_OR_RETURN(const FileFormat format, detect_format(file->bytes()));
  if (format != FileFormat::kSafetensors)
    return corrupt("shard " + printable(name) + " is no safetensors file");
  ModelFile shard;
  SOTTO_RETURN_IF_ERROR(
      read_safetensors(file->bytes(), shard).with_context("shard " + printable(name)));
  for (auto& [tensor, view] : shard.tensors) {
    const auto assigned = weight_map.find(tensor);
    if (assigned == weight_map.end() || assigned->second != name) {
      return corrupt("shard " + printable(name) + " holds tensor " + printable(tensor) +
                     ", which the index does not place there");
    }
    SOTTO_RETURN_IF_ERROR(add_tensor(out, tensor, std::move(view)));
  }
  out.metadata.merge(shard.metadata);
  out.files.push_back(std::move(file).value());
  return {};
}

Status read_shards(const std::string& path, std::span<const std::byte> index, ModelFile& out) {
  SOTTO_ASSIGN_OR_RETURN(const auto weight_map, read_weight_map(index));
  std::set<std::string> shards;
  for (const auto& entry : weight_map)
    shards.insert(entry.second);
  if (shards.size() > kMaxShards)
    return corrupt("the index lists " + std::to_string(shards.size()) + " files");

  const std::string folder = std::filesystem::path(path).parent_path().string();
  for (const std::string& shard : shards)
    SOTTO_RETURN_IF_ERROR(add_shard(folder, shard, weight_map, out));
  for (const auto& [tensor, shard] : weight_map) {
    if (out.tensors.find(tensor) == out.tensors.end()) {
      return corrupt("the index places tensor " + printable(tensor) + " in " + printable(shard) +
                     ", which does not hold it");
    }
  }
  return {};
}

}  // namespace

bool is_shard_index(std::span<const std::byte> bytes) {
  return looks_like_json(bytes) && as_text(bytes).find("\"weight_map\"") != std::string_view::npos;
}

Result<ModelFile> open_sharded_safetensors(const std::string& path,
                                           std::span<const std::byte> index) {
  ModelFile model;
  model.format = FileFormat::kSafetensors;
  model.path = path;
  SOTTO_RETURN_IF_ERROR(read_shards(path, index, model).with_context(path));
  return model;
}

}  // namespace sotto::models
