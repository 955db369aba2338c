#include "whisper/config.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/log.h"
#include "base/mapped_file.h"
#include "models/formats/model_file.h"
#include "models/formats/tensor_index.h"
#include "whisper/config_alignment_heads.h"
#include "whisper/weights_naming.h"

namespace sotto::whisper {
namespace {

using Json = nlohmann::json;

// Far above every real checkpoint; keeps products of sizes inside 32 bits.
constexpr int64_t kMaxWidth = 1 << 14;
constexpr int64_t kMaxContext = 1 << 16;
constexpr int64_t kMaxVocabulary = 1 << 20;
constexpr int64_t kMaxLayers = 256;
constexpr int64_t kMaxMels = 201;  // Frequencies of a 400-point spectrum
constexpr int kUsualHeadWidth = 64;

struct ConfigFiles {
  std::string folder;
  Json config, generation;  ///< Null where there is none
};

Result<Json> read_json(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return Json();
  SOTTO_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path.string()));
  const auto* text = reinterpret_cast<const char*>(file.bytes().data());
  Json json = Json::parse(text, text + file.bytes().size(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return corrupt(path.string() + " is not a JSON object; download it again or remove it");
  }
  return json;
}

/// The JSON files of the model's folder. A ggml or GGUF file is complete by itself, and what lies
/// beside it may belong to another model.
Result<ConfigFiles> read_config_files(const models::ModelFile& file) {
  ConfigFiles out;
  const bool in_folder = file.format == models::FileFormat::kCTranslate2 ||
                         file.format == models::FileFormat::kSafetensors;
  if (!in_folder || file.files.empty()) return out;
  const std::filesystem::path folder = std::filesystem::path(file.files[0].path()).parent_path();
  out.folder = folder.string();
  SOTTO_ASSIGN_OR_RETURN(out.config, read_json(folder / "config.json"));
  SOTTO_ASSIGN_OR_RETURN(out.generation, read_json(folder / "generation_config.json"));
  return out;
}

std::optional<int64_t> json_integer(const Json& json, const char* key) {
  if (!json.is_object() || !json.contains(key) || !json[key].is_number_integer()) return {};
  return json[key].get<int64_t>();
}

std::optional<int64_t> meta_integer(const models::ModelFile& file, std::string_view key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) return {};
  if (const auto* value = std::get_if<int64_t>(&found->second)) return *value;
  if (const auto* value = std::get_if<uint64_t>(&found->second))
    return static_cast<int64_t>(*value);
  return {};
}

/// Dims of a tensor that must have `rank` of them.
Result<std::vector<int64_t>> dims_of(const models::ModelFile& file, const std::string& name,
                                     size_t rank) {
  SOTTO_ASSIGN_OR_RETURN(const TensorView view, file.tensor(name));
  if (view.dims.size() != rank) {
    return corrupt(file.path + ": tensor '" + name + "' has shape " +
                   models::shape_text(view.dims) + ", expected " + std::to_string(rank) +
                   " dimensions");
  }
  return view.dims;
}

Status check_range(const models::ModelFile& file, std::string_view what, int64_t value,
                   int64_t limit) {
  if (value >= 1 && value <= limit) return {};
  return corrupt(file.path + ": " + std::string(what) + " is " + std::to_string(value) +
                 ", expected 1 to " + std::to_string(limit));
}

Status read_geometry(const models::ModelFile& file, const Naming& naming, Config& out) {
  const NamingTable& names = *naming.table;
  SOTTO_ASSIGN_OR_RETURN(const auto embedding,
                         dims_of(file, naming.module(names.token_embedding), 2));
  SOTTO_ASSIGN_OR_RETURN(const auto conv,
                         dims_of(file, naming.module(names.conv1) + std::string(names.weight), 3));
  SOTTO_ASSIGN_OR_RETURN(const auto audio_ctx,
                         dims_of(file, naming.module(names.encoder_positions), 2));
  SOTTO_ASSIGN_OR_RETURN(const auto text_ctx,
                         dims_of(file, naming.module(names.decoder_positions), 2));
  struct Size {
    std::string_view what;
    int64_t value, limit;
    int* out;
  };
  const Size sizes[] = {
      {"the vocabulary", embedding[0], kMaxVocabulary, &out.n_vocab},
      {"the width of the model", embedding[1], kMaxWidth, &out.d_model},
      {"the number of mel bands", conv[1], kMaxMels, &out.n_mels},
      {"the number of audio positions", audio_ctx[0], kMaxContext, &out.n_audio_ctx},
      {"the number of text positions", text_ctx[0], kMaxContext, &out.n_text_ctx},
      {"the number of encoder layers", count_layers(file, naming.module(names.encoder_layer)),
       kMaxLayers, &out.encoder_layers},
      {"the number of decoder layers", count_layers(file, naming.module(names.decoder_layer)),
       kMaxLayers, &out.decoder_layers},
  };
  for (const Size& size : sizes) {
    SOTTO_RETURN_IF_ERROR(check_range(file, size.what, size.value, size.limit));
    *size.out = static_cast<int>(size.value);
  }
  return {};
}

/// What the header or config.json says about sizes that the weights show must agree with them.
Status check_agreement(const models::ModelFile& file, const ConfigFiles& files,
                       const Config& config) {
  struct Claim {
    const char *meta, *json;
    int value;
  };
  const Claim claims[] = {
      {"n_vocab", "vocab_size", config.n_vocab},
      {"n_audio_ctx", "max_source_positions", config.n_audio_ctx},
      {"n_audio_state", "d_model", config.d_model},
      {"n_text_state", "d_model", config.d_model},
      {"n_audio_layer", "encoder_layers", config.encoder_layers},
      {"n_text_layer", "decoder_layers", config.decoder_layers},
      {"n_text_ctx", "max_target_positions", config.n_text_ctx},
      {"n_mels", "num_mel_bins", config.n_mels},
  };
  for (const Claim& claim : claims) {
    if (const auto value = meta_integer(file, claim.meta); value && *value != claim.value) {
      return corrupt(file.path + ": its header says " + claim.meta + " = " +
                     std::to_string(*value) + ", its tensors show " + std::to_string(claim.value));
    }
    if (const auto value = json_integer(files.config, claim.json); value && *value != claim.value) {
      return corrupt(files.folder + "/config.json says " + claim.json + " = " +
                     std::to_string(*value) + ", the weights in " + file.path + " show " +
                     std::to_string(claim.value) + "; they belong to different models");
    }
  }
  return {};
}

Status read_heads(const models::ModelFile& file, const ConfigFiles& files, Config& out) {
  struct Source {
    const char *ggml, *ctranslate2, *json, *what;
    int* out;
  };
  const Source sources[] = {
      {"n_audio_head", "encoder/num_heads", "encoder_attention_heads", "encoder", &out.n_head},
      {"n_text_head", "decoder/num_heads", "decoder_attention_heads", "decoder", &out.n_text_head},
  };
  for (const Source& source : sources) {
    std::optional<int64_t> heads = meta_integer(file, source.ggml);
    if (!heads) heads = meta_integer(file, source.ctranslate2);
    if (!heads) heads = json_integer(files.config, source.json);
    if (!heads && out.d_model % kUsualHeadWidth == 0) heads = out.d_model / kUsualHeadWidth;
    if (!heads) {
      return corrupt(file.path + ": nothing says how many attention heads the " + source.what +
                     " has; put the model's config.json beside the weights");
    }
    if (*heads < 1 || *heads > out.d_model || out.d_model % *heads != 0) {
      return corrupt(file.path + ": " + std::to_string(*heads) + " attention heads of the " +
                     source.what + " do not divide its width of " + std::to_string(out.d_model));
    }
    *source.out = static_cast<int>(*heads);
  }
  return {};
}

/// First of the two files that holds a list under `key`.
const Json* find_list(const ConfigFiles& files, const char* key) {
  for (const Json* json : {&files.generation, &files.config}) {
    if (json->is_object() && json->contains(key) && (*json)[key].is_array()) return &(*json)[key];
  }
  return nullptr;
}

/// Token ids under the name that Transformers or CTranslate2 gives them. Ids outside the vocabulary
/// cannot be generated anyway and are left out, so that users of the list may index with it.
std::vector<int> read_tokens(const ConfigFiles& files, const char* transformers,
                             const char* ctranslate2, const Config& config) {
  std::vector<int> out;
  const Json* list = find_list(files, transformers);
  if (list == nullptr) list = find_list(files, ctranslate2);
  if (list == nullptr) return out;
  for (const Json& item : *list) {
    if (!item.is_number_integer()) continue;
    const auto id = item.get<int64_t>();
    if (id >= 0 && id < config.n_vocab) out.push_back(static_cast<int>(id));
  }
  return out;
}

/// The config's list, or empty when it names heads that the decoder does not have (some distilled
/// checkpoints carry the list of their teacher).
std::vector<std::pair<int, int>> configured_heads(const ConfigFiles& files, const Config& config) {
  std::vector<std::pair<int, int>> out;
  const Json* list = find_list(files, "alignment_heads");
  if (list == nullptr) return out;
  for (const Json& item : *list) {
    const bool is_pair = item.is_array() && item.size() == 2 && item[0].is_number_integer() &&
                         item[1].is_number_integer();
    const int64_t layer = is_pair ? item[0].get<int64_t>() : -1;
    const int64_t head = is_pair ? item[1].get<int64_t>() : -1;
    if (layer < 0 || layer >= config.decoder_layers || head < 0 || head >= config.n_text_head) {
      spdlog::warn(
          "{}: alignment_heads do not fit a decoder of {} layers with {} heads; word times use the "
          "upper "
          "half of the layers",
          files.folder, config.decoder_layers, config.n_text_head);
      return {};
    }
    out.emplace_back(static_cast<int>(layer), static_cast<int>(head));
  }
  return out;
}

std::vector<std::pair<int, int>> known_heads(const Config& config) {
  std::vector<std::pair<int, int>> out;
  for (const KnownHeads& known : kKnownHeads) {
    if (known.encoder_layers != config.encoder_layers ||
        known.decoder_layers != config.decoder_layers || known.heads != config.n_text_head ||
        known.vocabulary != config.n_vocab) {
      continue;
    }
    for (int i = 0; i < known.count; ++i) {
      const auto& [layer, head] = known.list[static_cast<size_t>(i)];
      out.emplace_back(layer, head);
    }
  }
  return out;
}

std::vector<std::pair<int, int>> upper_half_heads(const Config& config) {
  std::vector<std::pair<int, int>> out;
  for (int layer = config.decoder_layers / 2; layer < config.decoder_layers; ++layer) {
    for (int head = 0; head < config.n_text_head; ++head)
      out.emplace_back(layer, head);
  }
  return out;
}

}  // namespace

Result<Config> read_config(const models::ModelFile& file, const Naming& naming) {
  Config config;
  SOTTO_RETURN_IF_ERROR(read_geometry(file, naming, config));
  SOTTO_ASSIGN_OR_RETURN(const ConfigFiles files, read_config_files(file));
  SOTTO_RETURN_IF_ERROR(check_agreement(file, files, config));
  SOTTO_RETURN_IF_ERROR(read_heads(file, files, config));
  config.suppress_tokens = read_tokens(files, "suppress_tokens", "suppress_ids", config);
  config.suppress_at_begin =
      read_tokens(files, "begin_suppress_tokens", "suppress_ids_begin", config);
  config.alignment_heads = configured_heads(files, config);
  if (config.alignment_heads.empty()) config.alignment_heads = known_heads(config);
  if (config.alignment_heads.empty()) config.alignment_heads = upper_half_heads(config);
  return config;
}

}  // namespace sotto::whisper
