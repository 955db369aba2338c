// Geometry and decoding constants of one Whisper checkpoint, read off its weights and config files.
#ifndef SOTTO_WHISPER_CONFIG_H_
#define SOTTO_WHISPER_CONFIG_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sotto::whisper {

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
  std::vector<std::pair<int, int>>
      alignment_heads;  ///< (layer, head); empty: all of the upper half
  std::vector<int>
      suppress_tokens;  ///< From the model's config; empty: derived from the vocabulary
  std::vector<int> suppress_at_begin;
};

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_CONFIG_H_
