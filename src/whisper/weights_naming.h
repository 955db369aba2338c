// How the three families of Whisper checkpoints name their tensors.
#ifndef SOTTO_WHISPER_WEIGHTS_NAMING_H_
#define SOTTO_WHISPER_WEIGHTS_NAMING_H_

#include <array>
#include <string>
#include <string_view>

#include "models/formats/model_file.h"
#include "sotto/status.h"

namespace sotto::whisper {

/// Modules of one family. A tensor's name is prefix + module + parameter suffix; inside a layer it
/// is prefix + layer + index + separator + module + suffix. Parts that are "" do not exist: the
/// first one then holds them all, stacked.
struct NamingTable {
  std::string_view family;  ///< For messages
  std::string_view encoder_layer, decoder_layer, separator;
  std::string_view weight, bias, norm_scale, norm_shift;  ///< Parameter suffixes
  std::string_view conv1, conv2, encoder_positions, encoder_norm;
  std::string_view token_embedding, decoder_positions, decoder_norm;
  std::string_view projection;  ///< "" where the family always ties it to the token embedding
  std::string_view self_norm, self_out;
  std::array<std::string_view, 3> self_qkv;
  std::string_view cross_norm, cross_query, cross_out;
  std::array<std::string_view, 2> cross_kv;
  std::string_view mlp_norm, mlp_up, mlp_down;
};

/// The tables of the three families. OpenAI's names are those of whisper.cpp's ggml files, too.
extern const NamingTable kCTranslate2Names, kOpenAiNames, kTransformersNames;

/// The table that fits one file, and what stands before all names of that file.
struct Naming {
  const NamingTable* table = nullptr;
  std::string prefix;  ///< "" or "model."

  [[nodiscard]] std::string module(std::string_view name) const {
    return prefix + std::string(name);
  }
  [[nodiscard]] std::string encoder_module(int layer, std::string_view name) const;
  [[nodiscard]] std::string decoder_module(int layer, std::string_view name) const;
};

/// Finds the family by the tensors that every Whisper checkpoint has. A file without them (a
/// language model, a voice detector, …) is kUnsupported with a message that says what it looks
/// like.
Result<Naming> detect_naming(const models::ModelFile& file);

/// One more than the highest index of a tensor below `layer_prefix` ("encoder.blocks."), so that a
/// layer with missing tensors still counts; 0 without any.
int count_layers(const models::ModelFile& file, std::string_view layer_prefix);

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_WEIGHTS_NAMING_H_
