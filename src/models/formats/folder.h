// Finds the weights in a model's folder.
#ifndef SOTTO_MODELS_FORMATS_FOLDER_H_
#define SOTTO_MODELS_FORMATS_FOLDER_H_

#include <string>

#include "sotto/status.h"

namespace sotto::models {

/// Path of the weight file in `folder`: model.bin, model.safetensors or
/// model.safetensors.index.json if present, else the only file that ends in .gguf, .safetensors or
/// .bin. None, or several, is an error that lists what is there.
Result<std::string> find_model_in_folder(const std::string& folder);

}  // namespace sotto::models

#endif  // SOTTO_MODELS_FORMATS_FOLDER_H_
