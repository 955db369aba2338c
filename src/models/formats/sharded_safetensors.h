// A model.safetensors.index.json and the shards beside it.
#ifndef SOTTO_MODELS_FORMATS_SHARDED_SAFETENSORS_H_
#define SOTTO_MODELS_FORMATS_SHARDED_SAFETENSORS_H_

#include <cstddef>
#include <span>
#include <string>

#include "models/formats/model_file.h"
#include "sotto/status.h"

namespace sotto::models {

/// Whether `bytes` are a JSON object that speaks of a "weight_map".
bool is_shard_index(std::span<const std::byte> bytes);

/// Opens every shard that the index at `path` lists; they lie in its folder. The index and the
/// shards must name the same tensors.
Result<ModelFile> open_sharded_safetensors(const std::string& path,
                                           std::span<const std::byte> index);

}  // namespace sotto::models

#endif  // SOTTO_MODELS_FORMATS_SHARDED_SAFETENSORS_H_
