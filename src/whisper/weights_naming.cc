#include "whisper/weights_naming.h"

#include <algorithm>
#include <charconv>

#include "models/formats/tensor_index.h"

namespace sotto::whisper {
// CTranslate2's converter fuses query, key and value, and writes zeros for the key bias that
// Whisper does not have.
const NamingTable kCTranslate2Names = {
    .family = "CTranslate2",
    .encoder_layer = "encoder/layer_",
    .decoder_layer = "decoder/layer_",
    .separator = "/",
    .weight = "/weight",
    .bias = "/bias",
    .norm_scale = "/gamma",
    .norm_shift = "/beta",
    .conv1 = "encoder/conv1",
    .conv2 = "encoder/conv2",
    .encoder_positions = "encoder/position_encodings/encodings",
    .encoder_norm = "encoder/layer_norm",
    .token_embedding = "decoder/embeddings/weight",
    .decoder_positions = "decoder/position_encodings/encodings",
    .decoder_norm = "decoder/layer_norm",
    .projection = "decoder/projection/weight",
    .self_norm = "self_attention/layer_norm",
    .self_out = "self_attention/linear_1",
    .self_qkv = {"self_attention/linear_0", "", ""},
    .cross_norm = "attention/layer_norm",
    .cross_query = "attention/linear_0",
    .cross_out = "attention/linear_2",
    .cross_kv = {"attention/linear_1", ""},
    .mlp_norm = "ffn/layer_norm",
    .mlp_up = "ffn/linear_0",
    .mlp_down = "ffn/linear_1",
};

// OpenAI's own checkpoints and, with the same names, whisper.cpp's ggml files.
const NamingTable kOpenAiNames = {
    .family = "OpenAI",
    .encoder_layer = "encoder.blocks.",
    .decoder_layer = "decoder.blocks.",
    .separator = ".",
    .weight = ".weight",
    .bias = ".bias",
    .norm_scale = ".weight",
    .norm_shift = ".bias",
    .conv1 = "encoder.conv1",
    .conv2 = "encoder.conv2",
    .encoder_positions = "encoder.positional_embedding",
    .encoder_norm = "encoder.ln_post",
    .token_embedding = "decoder.token_embedding.weight",
    .decoder_positions = "decoder.positional_embedding",
    .decoder_norm = "decoder.ln",
    .projection = "",
    .self_norm = "attn_ln",
    .self_out = "attn.out",
    .self_qkv = {"attn.query", "attn.key", "attn.value"},
    .cross_norm = "cross_attn_ln",
    .cross_query = "cross_attn.query",
    .cross_out = "cross_attn.out",
    .cross_kv = {"cross_attn.key", "cross_attn.value"},
    .mlp_norm = "mlp_ln",
    .mlp_up = "mlp.0",
    .mlp_down = "mlp.2",
};

const NamingTable kTransformersNames = {
    .family = "Transformers",
    .encoder_layer = "encoder.layers.",
    .decoder_layer = "decoder.layers.",
    .separator = ".",
    .weight = ".weight",
    .bias = ".bias",
    .norm_scale = ".weight",
    .norm_shift = ".bias",
    .conv1 = "encoder.conv1",
    .conv2 = "encoder.conv2",
    .encoder_positions = "encoder.embed_positions.weight",
    .encoder_norm = "encoder.layer_norm",
    .token_embedding = "decoder.embed_tokens.weight",
    .decoder_positions = "decoder.embed_positions.weight",
    .decoder_norm = "decoder.layer_norm",
    .projection = "proj_out.weight",
    .self_norm = "self_attn_layer_norm",
    .self_out = "self_attn.out_proj",
    .self_qkv = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"},
    .cross_norm = "encoder_attn_layer_norm",
    .cross_query = "encoder_attn.q_proj",
    .cross_out = "encoder_attn.out_proj",
    .cross_kv = {"encoder_attn.k_proj", "encoder_attn.v_proj"},
    .mlp_norm = "final_layer_norm",
    .mlp_up = "fc1",
    .mlp_down = "fc2",
};

namespace {

struct Candidate {
  const NamingTable* table;
  std::string_view prefix;
};
constexpr std::array<Candidate, 4> kCandidates = {{{&kCTranslate2Names, ""},
                                                   {&kOpenAiNames, ""},
                                                   {&kTransformersNames, ""},
                                                   {&kTransformersNames, "model."}}};

std::string layer_module(const std::string& prefix, std::string_view layers, int layer,
                         std::string_view separator, std::string_view name) {
  return prefix + std::string(layers) + std::to_string(layer) + std::string(separator) +
         std::string(name);
}

/// What a file that is not Whisper seems to be, for the error message.
std::string describe_other_model(const models::ModelFile& file) {
  if (const auto found = file.metadata.find("general.architecture"); found != file.metadata.end()) {
    if (const auto* name = std::get_if<std::string>(&found->second)) {
      return "it holds a model of architecture " + models::printable(*name);
    }
  }
  if (file.tensors.empty()) return "it holds no tensors";
  return "its first tensor is " + models::printable(file.tensors.begin()->first);
}

}  // namespace

std::string Naming::encoder_module(int layer, std::string_view name) const {
  return layer_module(prefix, table->encoder_layer, layer, table->separator, name);
}

std::string Naming::decoder_module(int layer, std::string_view name) const {
  return layer_module(prefix, table->decoder_layer, layer, table->separator, name);
}

Result<Naming> detect_naming(const models::ModelFile& file) {
  for (const Candidate& candidate : kCandidates) {
    Naming naming{candidate.table, std::string(candidate.prefix)};
    // Speech goes in by a convolution and text comes out of a decoder. Any tensor of either is
    // enough here, so that a single one that is missing gets reported by its name later.
    const std::string conv =
        naming.module(naming.table->conv1) + std::string(naming.table->separator);
    const auto found = file.tensors.lower_bound(conv);
    const bool hears = found != file.tensors.end() && found->first.starts_with(conv);
    const bool writes = file.tensors.contains(naming.module(naming.table->token_embedding)) ||
                        count_layers(file, naming.module(naming.table->decoder_layer)) > 0;
    if (hears && writes) return naming;
  }
  return unsupported(
      file.path + " (" + std::string(models::file_format_name(file.format)) +
      ") is not a Whisper model: " + describe_other_model(file) +
      ", and Whisper's convolutions and token embedding are missing. Give a Whisper checkpoint of "
      "OpenAI, whisper.cpp (ggml), CTranslate2 or Transformers (safetensors)");
}

int count_layers(const models::ModelFile& file, std::string_view layer_prefix) {
  int count = 0;
  for (auto it = file.tensors.lower_bound(layer_prefix); it != file.tensors.end(); ++it) {
    const std::string_view name = it->first;
    if (!name.starts_with(layer_prefix)) break;
    int index = -1;
    std::from_chars(name.data() + layer_prefix.size(), name.data() + name.size(), index);
    count = std::max(count, index < 0 || index >= 100000 ? 0 : index + 1);
  }
  return count;
}

}  // namespace sotto::whisper
