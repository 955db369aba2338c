#include "whisper/encoder.h"

#include <string>

namespace sotto::whisper {

Result<ops::Activation> encoder_stem(ops::Backend& backend, const Config& config,
                                     const Weights& weights, std::span<const float> mel,
                                     int positions) {
  if (positions < 1 || positions > config.n_audio_ctx) {
    return invalid_argument("the encoder was asked for " + std::to_string(positions) +
                            " positions; this model has 1 to " +
                            std::to_string(config.n_audio_ctx));
  }
  const int64_t frames = 2 * int64_t{positions};  // The second convolution has stride 2
  if (static_cast<int64_t>(mel.size()) != frames * config.n_mels) {
    return invalid_argument("the encoder got " + std::to_string(mel.size()) + " mel values for " +
                            std::to_string(frames) + " frames of " + std::to_string(config.n_mels) +
                            " bands");
  }
  SOTTO_ASSIGN_OR_RETURN(const auto input, backend.from_host(mel, frames, config.n_mels));
  SOTTO_ASSIGN_OR_RETURN(const auto fine, backend.conv1d_gelu(input, *weights.conv1, 1, nullptr));
  return backend.conv1d_gelu(fine, *weights.conv2, 2, weights.audio_positions.get());
}

Result<ops::Activation> encoder_layer(ops::Backend& backend, const EncoderLayerWeights& layer,
                                      int heads, const ops::Activation& x,
                                      ops::Activation* mlp_input) {
  SOTTO_ASSIGN_OR_RETURN(const auto normed, backend.layer_norm(x, *layer.self_norm));
  SOTTO_ASSIGN_OR_RETURN(const auto qkv, backend.linear(normed, *layer.self_qkv, {}));
  SOTTO_ASSIGN_OR_RETURN(const auto attended, backend.self_attention(qkv, heads, 1));
  SOTTO_ASSIGN_OR_RETURN(const auto y, backend.linear(attended, *layer.self_out, {.residual = &x}));
  SOTTO_ASSIGN_OR_RETURN(const auto mlp_in, backend.layer_norm(y, *layer.mlp_norm));
  if (mlp_input != nullptr) *mlp_input = mlp_in;
  return backend.mlp(mlp_in, *layer.mlp_up, *layer.mlp_down, y);
}

Result<ops::Activation> run_encoder(ops::Backend& backend, const Config& config,
                                    const Weights& weights, std::span<const float> mel,
                                    int positions) {
  SOTTO_ASSIGN_OR_RETURN(auto x, encoder_stem(backend, config, weights, mel, positions));
  for (const EncoderLayerWeights& layer : weights.encoder) {
    SOTTO_ASSIGN_OR_RETURN(x, encoder_layer(backend, layer, config.n_head, x));
  }
  return backend.layer_norm(x, *weights.encoder_norm);
}

}  // namespace sotto::whisper
