// Geometry and decoding constants of one Whisper checkpoint, read off its weights and config files.
#ifndef SOTTO_WHISPER_CONFIG_H_
#define SOTTO_WHISPER_CONFIG_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sotto/status.h"

namespace sotto::models {
class ModelFile;
}

namespace sotto::whisper {

struct Naming;  // whisper/weights_naming.h

struct Config {
  int n_mels = 80;
  int n_audio_ctx = 1500;  ///< Encoder positions; one is 2 mel frames, 20 ms
  int n_text_ctx = 448;
  int n_vocab = 0;
  int d_model = 0;
  int n_head = 0;  ///< Of the encoder; head_dim = d_model / n_head
  int n_text_head = 0;
  int encoder_layers = 0;
  int decoder_layers = 0;
  /// (decoder layer, head), never empty after read_config: from the model's config, else OpenAI's
  /// list for this geometry, else all heads of the upper half of the layers.
  std::vector<std::pair<int, int>> alignment_heads;
  std::vector<int>
      suppress_tokens;  ///< From the model's config; empty: derived from the vocabulary
  std::vector<int> suppress_at_begin;
};

/// Reads the geometry off the tensors of `file`; the head counts and token lists, which no tensor
/// shows, off the ggml header, CTranslate2's constants or the config.json and
/// generation_config.json beside the weights. Without any of them heads have 64 columns, as in all
/// of OpenAI's checkpoints. A file that contradicts itself or its config files is kCorrupt.
Result<Config> read_config(const models::ModelFile& file, const Naming& naming);

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_CONFIG_H_
