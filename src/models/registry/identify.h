// Which kind of model some files are.
#ifndef SOTTO_MODELS_REGISTRY_IDENTIFY_H_
#define SOTTO_MODELS_REGISTRY_IDENTIFY_H_

#include <string>
#include <string_view>

#include "sotto/models.h"
#include "sotto/status.h"

namespace sotto::registry {

/// Looks at the first bytes of a weight file, or of the weights in a folder, and at config.json
/// beside them. kUnsupported says what was found when it is no model that sotto reads; kNotFound
/// when there is no such file. The weights themselves are checked only when they are loaded.
Result<ModelKind> identify_model(const std::string& path);

/// The usual ending (".gguf", ".bin", ".safetensors") of a weight file that needs no other files:
/// GGUF, ggml, Silero VAD. "" for others.
std::string_view self_contained_ending(const std::string& path);

/// True for the names of files that belong to a model: weights, configuration, vocabulary.
bool is_model_file_name(const std::string& name);

}  // namespace sotto::registry

#endif  // SOTTO_MODELS_REGISTRY_IDENTIFY_H_
