// Whisper's encoder: mel frames in, one row of features for each 20 ms out.
// Source of the architecture: https://arxiv.org/abs/2212.04356, section 2.2, and openai/whisper,
// whisper/model.py.
#ifndef SOTTO_WHISPER_ENCODER_H_
#define SOTTO_WHISPER_ENCODER_H_

#include <span>

#include "ops/backend.h"
#include "sotto/status.h"
#include "whisper/config.h"
#include "whisper/weights.h"

namespace sotto::whisper {

/// The two convolutions and the positions: mel [2 * positions, n_mels] -> [positions, d_model],
/// 1 <= positions <= n_audio_ctx.
Result<ops::Activation> encoder_stem(ops::Backend& backend, const Config& config,
                                     const Weights& weights, std::span<const float> mel,
                                     int positions);

/// One transformer layer, x [positions, d_model] -> the same shape. `mlp_input`, if not null,
/// receives what its MLP reads.
Result<ops::Activation> encoder_layer(ops::Backend& backend, const EncoderLayerWeights& layer,
                                      int heads, const ops::Activation& x,
                                      ops::Activation* mlp_input = nullptr);

/// The whole encoder: stem, layers and final norm.
Result<ops::Activation> run_encoder(ops::Backend& backend, const Config& config,
                                    const Weights& weights, std::span<const float> mel,
                                    int positions);

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_ENCODER_H_
