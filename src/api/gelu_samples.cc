#include "api/gelu_samples.h"

#include <cmath>

#include "api/device.h"
#include "audio/log_mel.h"
#include "audio/recording.h"
#include "base/thread_pool.h"
#include "models/formats/model_file.h"
#include "whisper/encoder.h"
#include "whisper/weights.h"
#include "whisper/weights_naming.h"

namespace sotto::api {
namespace {

Result<std::vector<float>> first_window(const std::string& audio, const whisper::Config& config) {
  SOTTO_ASSIGN_OR_RETURN(const audio::Recording recording, audio::decode_file(audio, {}));
  ThreadPool pool(0);
  SOTTO_ASSIGN_OR_RETURN(const audio::LogMel mel,
                         audio::LogMel::compute(recording.mono, config.n_mels, pool));
  std::vector<float> out(static_cast<size_t>(audio::kWindowFrames * config.n_mels));
  mel.window(0, audio::kWindowFrames, out, audio::Beyond::kZero);
  return out;
}

}  // namespace

Status count_gelu_inputs(const std::string& model, const std::string& audio, double limit,
                         std::span<int64_t> counts) {
  LoadOptions options;
  options.device = "cpu";
  SOTTO_ASSIGN_OR_RETURN(const DeviceChoice choice, choose_device(options, ""));
  SOTTO_ASSIGN_OR_RETURN(const auto backend, open_device(choice));
  SOTTO_ASSIGN_OR_RETURN(const models::ModelFile file, models::open_model_file(model));
  SOTTO_ASSIGN_OR_RETURN(const whisper::Naming naming, whisper::detect_naming(file));
  SOTTO_ASSIGN_OR_RETURN(const whisper::Config config, whisper::read_config(file, naming));
  SOTTO_ASSIGN_OR_RETURN(const whisper::Weights weights,
                         whisper::upload_weights(file, naming, config, *backend));
  SOTTO_ASSIGN_OR_RETURN(const std::vector<float> mel, first_window(audio, config));
  SOTTO_ASSIGN_OR_RETURN(ops::Activation x,
                         whisper::encoder_stem(*backend, config, weights, mel, config.n_audio_ctx));
  std::vector<float> inputs;
  for (const whisper::EncoderLayerWeights& layer : weights.encoder) {
    ops::Activation mlp_input;
    SOTTO_ASSIGN_OR_RETURN(x,
                           whisper::encoder_layer(*backend, layer, config.n_head, x, &mlp_input));
    SOTTO_ASSIGN_OR_RETURN(const ops::Activation hidden,
                           backend->linear(mlp_input, *layer.mlp_up, {}));
    inputs.resize(static_cast<size_t>(hidden.rows() * hidden.cols()));
    SOTTO_RETURN_IF_ERROR(backend->to_host(hidden, inputs));
    for (const float v : inputs) {
      const double place = std::fabs(double{v}) / limit * static_cast<double>(counts.size());
      if (place < static_cast<double>(counts.size())) ++counts[static_cast<size_t>(place)];
    }
  }
  return {};
}

}  // namespace sotto::api
