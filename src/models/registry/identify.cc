#include "models/registry/identify.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "models/registry/files.h"

namespace sotto::registry {
namespace {

using Json = nlohmann::json;

constexpr size_t kHeadBytes = 4096;

std::string read_head(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(kHeadBytes, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(file.gcount()));
  return head;
}

/// By the magic numbers of models/formats' readers; safetensors carries none that tells a kind.
std::optional<ModelKind> kind_of_head(std::string_view head) {
  using namespace std::string_view_literals;
  if (head.starts_with("GGUF"sv)) return ModelKind::kLlm;
  if (head.starts_with("lmgg"sv)) return ModelKind::kWhisper;  // whisper.cpp's 0x67676d6c
  // CTranslate2: u32 version, then the length and the text of the specification's name.
  constexpr auto kWhisperSpec = "WhisperSpec\0"sv;
  constexpr size_t kNameOffset = 6;
  if (head.size() > kNameOffset && head.substr(kNameOffset).starts_with(kWhisperSpec)) {
    return ModelKind::kWhisper;
  }
  return std::nullopt;
}

bool is_safetensors_head(std::string_view head) {
  constexpr size_t kHeaderOffset = 8;
  return head.size() > kHeaderOffset && head[kHeaderOffset] == '{';
}

/// Silero VAD comes as safetensors without a config.json; its first layer names it.
bool is_silero_head(std::string_view head) {
  return is_safetensors_head(head) && head.find("\"stft_conv.weight\"") != std::string_view::npos;
}

Result<ModelKind> kind_of_config(const std::string& path) {
  constexpr int64_t kLargestConfig = int64_t{4} << 20;
  SOTTO_ASSIGN_OR_RETURN(const std::string text, read_text_file(path, kLargestConfig));
  const Json config = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object()) return corrupt(path + ": not a JSON object");
  const auto type = config.find("model_type");
  if (type == config.end() || !type->is_string()) {
    return unsupported(path + ": does not say which model it is (no model_type)");
  }
  return *type == "whisper" ? ModelKind::kWhisper : ModelKind::kLlm;
}

Result<ModelKind> identify_file(const std::string& path) {
  const std::string head = read_head(path);
  if (const std::optional<ModelKind> kind = kind_of_head(head)) return *kind;
  if (is_silero_head(head)) return ModelKind::kVad;
  if (is_safetensors_head(head)) {
    const std::string config = (std::filesystem::path(path).parent_path() / "config.json").string();
    if (path_exists(config)) return kind_of_config(config);
    return unsupported(path + ": safetensors without a config.json beside it\n" +
                       "give the folder that holds both");
  }
  return unsupported(path +
                     ": not a model that sotto reads\n"
                     "CTranslate2, whisper.cpp ggml, GGUF and safetensors are read");
}

}  // namespace

std::string_view self_contained_ending(const std::string& path) {
  const std::string head = read_head(path);
  if (head.starts_with("GGUF")) return ".gguf";
  if (head.starts_with("lmgg")) return ".bin";
  return is_silero_head(head) ? ".safetensors" : "";
}

bool is_model_file_name(const std::string& name) {
  constexpr std::array<std::string_view, 6> kEndings = {".bin",  ".gguf", ".safetensors",
                                                        ".json", ".txt",  ".model"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&name](std::string_view ending) { return name.ends_with(ending); });
}

Result<ModelKind> identify_model(const std::string& path) {
  if (!path_exists(path)) return not_found(path + ": no such file or folder");
  if (!is_folder(path)) return identify_file(path);
  SOTTO_ASSIGN_OR_RETURN(const std::vector<std::string> names, folder_entries(path));
  for (const std::string_view ending : {".bin", ".gguf", ".safetensors"}) {
    for (const std::string& name : names) {
      if (!name.ends_with(ending)) continue;
      Result<ModelKind> kind = identify_file(path + "/" + name);
      if (kind.ok()) return kind;
    }
  }
  return unsupported(path + ": no model that sotto reads is in this folder\n" +
                     "CTranslate2, whisper.cpp ggml, GGUF and safetensors are read");
}

}  // namespace sotto::registry
