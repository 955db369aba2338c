// Weights of one Whisper checkpoint on a device, and how they get there from the tensors of its
// file.
#ifndef SOTTO_WHISPER_WEIGHTS_H_
#define SOTTO_WHISPER_WEIGHTS_H_

#include <vector>

#include "models/formats/model_file.h"
#include "ops/backend.h"
#include "sotto/status.h"
#include "whisper/config.h"
#include "whisper/weights_naming.h"

namespace sotto::whisper {

struct EncoderLayerWeights {
  ops::NormRef self_norm;
  ops::LinearRef self_qkv;  ///< [3 d, d]: query, key, value
  ops::LinearRef self_out;  ///< [d, d]
  ops::NormRef mlp_norm;
  ops::LinearRef mlp_up;    ///< [f, d]
  ops::LinearRef mlp_down;  ///< [d, f]
};

struct DecoderLayerWeights : EncoderLayerWeights {
  ops::NormRef cross_norm;
  ops::LinearRef cross_query;  ///< [d, d]
  ops::LinearRef cross_out;    ///< [d, d]
};

struct Weights {
  ops::LinearRef conv1;           ///< [d, n_mels, 3]
  ops::LinearRef conv2;           ///< [d, d, 3], stride 2
  ops::TableRef audio_positions;  ///< [n_audio_ctx, d]
  std::vector<EncoderLayerWeights> encoder;
  ops::NormRef encoder_norm;
  ops::TableRef token_embedding;  ///< [n_vocab, d]
  ops::TableRef text_positions;   ///< [n_text_ctx, d]
  std::vector<DecoderLayerWeights> decoder;
  std::vector<ops::LinearRef> cross_kv;  ///< One a decoder layer, [2 d, d]: key, value
  ops::NormRef decoder_norm;
  ops::LinearRef
      logits;  ///< [n_vocab, d]; the token embedding once more unless the file has its own
};

/// Uploads all weights of `file`. The tables go on reading the file's bytes, so `file` must outlive
/// the result; the pages of everything else have been released. A missing tensor is kNotFound; a
/// wrong shape, an unfit element type and a value that is not finite are kCorrupt or kUnsupported,
/// always naming file and tensor.
Result<Weights> upload_weights(const models::ModelFile& file, const Naming& naming,
                               const Config& config, ops::Backend& backend);

/// Whether every stored value of `view` is finite. For block formats the scales are what is looked
/// at.
bool all_finite(const TensorView& view);
/// The part of all_finite() that concerns scales, of rows and of blocks.
bool scales_finite(const TensorView& view);

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_WEIGHTS_H_
