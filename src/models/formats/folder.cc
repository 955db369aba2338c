#include "models/formats/folder.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "models/formats/tensor_index.h"

namespace sotto::models {
namespace {

// Names that leave no doubt, in the order in which they are tried.
constexpr std::array<std::string_view, 3> kUsualNames = {"model.bin", "model.safetensors",
                                                         "model.safetensors.index.json"};
constexpr std::array<std::string_view, 3> kWeightSuffixes = {".gguf", ".safetensors", ".bin"};
constexpr std::array<std::string_view, 4> kPytorchSuffixes = {".pt", ".pth", ".ckpt", ".pkl"};
constexpr size_t kMaxListed = 8;

template <typename Suffixes>
bool ends_with_any(std::string_view name, const Suffixes& suffixes) {
  return std::any_of(suffixes.begin(), suffixes.end(),
                     [&](std::string_view s) { return name.ends_with(s); });
}

/// A Hugging Face repository's PyTorch weights end in .bin like others' files do.
bool is_pytorch_name(std::string_view name) {
  return name.starts_with("pytorch_model") || ends_with_any(name, kPytorchSuffixes);
}

/// Names of the regular files in `folder`, sorted.
Result<std::vector<std::string>> file_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored)) names.push_back(it->path().filename().string());
  }
  if (error) return status_from_errno(error.value(), "cannot list " + folder);
  std::sort(names.begin(), names.end());
  return names;
}

std::string listing(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < std::min(names.size(), kMaxListed); ++i) {
    out += (i == 0 ? "" : ", ") + printable(names[i]);
  }
  if (names.size() > kMaxListed)
    out += " and " + std::to_string(names.size() - kMaxListed) + " more";
  return out;
}

}  // namespace

Result<std::string> find_model_in_folder(const std::string& folder) {
  SOTTO_ASSIGN_OR_RETURN(const std::vector<std::string> names, file_names(folder));
  const auto path_of = [&](std::string_view name) {
    return (std::filesystem::path(folder) / name).string();
  };
  for (const std::string_view usual : kUsualNames) {
    if (std::binary_search(names.begin(), names.end(), usual)) return path_of(usual);
  }
  std::vector<std::string> weights, pytorch;
  for (const std::string& name : names) {
    if (is_pytorch_name(name)) {
      pytorch.push_back(name);
    } else if (ends_with_any(name, kWeightSuffixes)) {
      weights.push_back(name);
    }
  }
  if (weights.size() == 1) return path_of(weights[0]);
  if (!weights.empty()) {
    return invalid_argument(folder +
                            " holds several models; name one of them: " + listing(weights));
  }
  if (!pytorch.empty()) {
    return unsupported(
        folder + " holds only PyTorch weights (" + listing(pytorch) +
        "); convert them to safetensors, or pull the model in a supported format (sotto pull)");
  }
  return not_found(folder + " holds no model (model.bin, *.safetensors, *.gguf or ggml-*.bin)" +
                   (names.empty() ? "; it is empty" : "; it has " + listing(names)));
}

}  // namespace sotto::models
