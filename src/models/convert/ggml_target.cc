// whisper.cpp's ggml .bin. Source: the loader of ggml-org/whisper.cpp and its quantize program.
#include "audio/log_mel.h"
#include "models/convert/encoded_tensor.h"
#include "models/convert/targets.h"

namespace sotto::convert {
namespace {

constexpr int32_t kQuantizationVersion = 2;  // ggml's, kept in the thousands of ftype

/// whisper.cpp's code of the type of the matrices.
int32_t file_type(DType matrices) {
  const auto quantised = [](int32_t code) { return kQuantizationVersion * 1000 + code; };
  switch (matrices) {
    case DType::kF32:
      return 0;
    case DType::kQ4_0:
      return quantised(2);
    case DType::kQ4_1:
      return quantised(3);
    case DType::kQ8_0:
      return quantised(7);
    case DType::kQ5_0:
      return quantised(8);
    case DType::kQ5_1:
      return quantised(9);
    default:
      return 1;
  }
}

DType dtype_of(Role role, Encoding encoding) {
  if (role == Role::kMatrix) return encoding.matrices;
  // Convolutions are read as f16 in every model that is not all f32.
  if (role == Role::kConv && encoding.matrices != DType::kF32) return DType::kF16;
  return encoding.rest;
}

std::vector<std::string> ordinary_tokens(const Checkpoint& checkpoint) {
  std::vector<std::string> out;
  for (int id = 0; id < checkpoint.tokens.eot; ++id)
    out.emplace_back(checkpoint.tokenizer->token_bytes(id));
  return out;
}

}  // namespace

Result<int64_t> write_ggml_checkpoint(const Checkpoint& checkpoint, const WeightsRequest& request) {
  const Encoding encoding = request.encoding;
  SOTTO_ASSIGN_OR_RETURN(Plan plan, make_plan(checkpoint, {&whisper::kOpenAiNames, ""}));
  const whisper::Config& config = checkpoint.config;
  models::GgmlContents contents;
  contents.header = {{"n_vocab", config.n_vocab},
                     {"n_audio_ctx", config.n_audio_ctx},
                     {"n_audio_state", config.d_model},
                     {"n_audio_head", config.n_head},
                     {"n_audio_layer", config.encoder_layers},
                     {"n_text_ctx", config.n_text_ctx},
                     {"n_text_state", config.d_model},
                     {"n_text_head", config.n_text_head},
                     {"n_text_layer", config.decoder_layers},
                     {"n_mels", config.n_mels},
                     {"ftype", file_type(encoding.matrices)}};
  contents.mel_filters = audio::mel_filters(config.n_mels);
  contents.mel_filter_bins = audio::kFrameSamples / 2 + 1;
  contents.vocabulary = ordinary_tokens(checkpoint);
  for (PlannedTensor& tensor : plan.tensors) {
    // whisper.cpp adds them to [d, frames] and wants [d, 1].
    if (tensor.role == Role::kConvBias) tensor.source = tensor.source.as_column();
    contents.tensors.push_back(encoded(tensor, dtype_of(tensor.role, encoding)));
  }
  make_stoppable(contents.tensors, request.should_stop);
  SOTTO_RETURN_IF_ERROR(models::write_ggml(request.path, contents));
  return static_cast<int64_t>(contents.tensors.size());
}

}  // namespace sotto::convert
