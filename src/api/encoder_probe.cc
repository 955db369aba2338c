#include "api/encoder_probe.h"

#include <cmath>
#include <memory>
#include <utility>

#include "api/device.h"
#include "audio/log_mel.h"
#include "audio/recording.h"
#include "base/thread_pool.h"
#include "models/formats/model_file.h"
#include "npu/runtime/sim/sim_device.h"
#include "ops/npu/npu_backend.h"
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

/// An encoder on a backend, and what it hears.
struct Probe {
  models::ModelFile file;
  whisper::Config config;
  std::unique_ptr<ops::Backend> backend;
  whisper::Weights weights;
  std::vector<float> mel;

  Result<ops::Activation> stem() {
    return whisper::encoder_stem(*backend, config, weights, mel, config.n_audio_ctx);
  }
};

Result<Probe> make_probe(const std::string& model, const std::string& audio,
                         std::unique_ptr<ops::Backend> backend) {
  Probe probe;
  probe.backend = std::move(backend);
  SOTTO_ASSIGN_OR_RETURN(probe.file, models::open_model_file(model));
  SOTTO_ASSIGN_OR_RETURN(const whisper::Naming naming, whisper::detect_naming(probe.file));
  SOTTO_ASSIGN_OR_RETURN(probe.config, whisper::read_config(probe.file, naming));
  SOTTO_ASSIGN_OR_RETURN(probe.weights,
                         whisper::upload_weights(probe.file, naming, probe.config, *probe.backend));
  SOTTO_ASSIGN_OR_RETURN(probe.mel, first_window(audio, probe.config));
  return probe;
}

Result<DeviceChoice> choose(const char* device) {
  LoadOptions options;
  options.device = device;
  options.compute = "f32";
  return choose_device(options, "");
}

Result<std::vector<float>> values_of(Probe& probe, const ops::Activation& x) {
  std::vector<float> out(static_cast<size_t>(x.rows() * x.cols()));
  SOTTO_RETURN_IF_ERROR(probe.backend->to_host(x, out));
  return out;
}

StageAccuracy compare(std::string stage, const std::vector<float>& got,
                      const std::vector<float>& expected) {
  double both = 0;
  double a = 0;
  double b = 0;
  double difference = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    both += double{got[i]} * double{expected[i]};
    a += double{got[i]} * double{got[i]};
    b += double{expected[i]} * double{expected[i]};
    difference += std::pow(double{got[i]} - double{expected[i]}, 2);
  }
  return {std::move(stage), both / std::sqrt(a * b), std::sqrt(difference / b)};
}

}  // namespace

Status count_gelu_inputs(const std::string& model, const std::string& audio, double limit,
                         std::span<int64_t> counts) {
  SOTTO_ASSIGN_OR_RETURN(const DeviceChoice choice, choose("cpu"));
  SOTTO_ASSIGN_OR_RETURN(auto backend, open_device(choice));
  SOTTO_ASSIGN_OR_RETURN(Probe probe, make_probe(model, audio, std::move(backend)));
  SOTTO_ASSIGN_OR_RETURN(ops::Activation x, probe.stem());
  for (const whisper::EncoderLayerWeights& layer : probe.weights.encoder) {
    ops::Activation mlp_input;
    SOTTO_ASSIGN_OR_RETURN(
        x, whisper::encoder_layer(*probe.backend, layer, probe.config.n_head, x, &mlp_input));
    SOTTO_ASSIGN_OR_RETURN(const ops::Activation hidden,
                           probe.backend->linear(mlp_input, *layer.mlp_up, {}));
    SOTTO_ASSIGN_OR_RETURN(const std::vector<float> inputs, values_of(probe, hidden));
    for (const float v : inputs) {
      const double place = std::fabs(double{v}) / limit * static_cast<double>(counts.size());
      if (place < static_cast<double>(counts.size())) ++counts[static_cast<size_t>(place)];
    }
  }
  return {};
}

Result<std::vector<StageAccuracy>> encoder_accuracy(const std::string& model,
                                                    const std::string& audio,
                                                    bool floor_truncates) {
  SOTTO_ASSIGN_OR_RETURN(const DeviceChoice choice, choose("cpu"));
  SOTTO_ASSIGN_OR_RETURN(auto cpu, open_device(choice));
  SOTTO_ASSIGN_OR_RETURN(auto device,
                         npu::runtime::make_sim_device(ops::npu_designs(), choice.cpu.isa,
                                                       choice.cpu.threads, {0, floor_truncates}));
  SOTTO_ASSIGN_OR_RETURN(auto sim, ops::make_npu_backend(std::move(device), choice.cpu));
  SOTTO_ASSIGN_OR_RETURN(Probe exact, make_probe(model, audio, std::move(cpu)));
  SOTTO_ASSIGN_OR_RETURN(Probe array, make_probe(model, audio, std::move(sim)));
  SOTTO_ASSIGN_OR_RETURN(ops::Activation x, exact.stem());
  SOTTO_ASSIGN_OR_RETURN(ops::Activation y, array.stem());
  std::vector<StageAccuracy> out;
  const auto add = [&](std::string stage) -> Status {
    SOTTO_ASSIGN_OR_RETURN(const std::vector<float> expected, values_of(exact, x));
    SOTTO_ASSIGN_OR_RETURN(const std::vector<float> got, values_of(array, y));
    out.push_back(compare(std::move(stage), got, expected));
    return {};
  };
  SOTTO_RETURN_IF_ERROR(add("stem"));
  for (size_t i = 0; i < exact.weights.encoder.size(); ++i) {
    const int heads = exact.config.n_head;
    SOTTO_ASSIGN_OR_RETURN(
        x, whisper::encoder_layer(*exact.backend, exact.weights.encoder[i], heads, x));
    SOTTO_ASSIGN_OR_RETURN(
        y, whisper::encoder_layer(*array.backend, array.weights.encoder[i], heads, y));
    SOTTO_RETURN_IF_ERROR(add("layer " + std::to_string(i + 1)));
  }
  SOTTO_ASSIGN_OR_RETURN(x, exact.backend->layer_norm(x, *exact.weights.encoder_norm));
  SOTTO_ASSIGN_OR_RETURN(y, array.backend->layer_norm(y, *array.weights.encoder_norm));
  SOTTO_RETURN_IF_ERROR(add("output"));
  for (const ops::OpCounter& counter : array.backend->counters()) {
    if (counter.fallbacks > 0) {
      return internal_error(counter.op + " fell back to the CPU: " + counter.fallback_reason);
    }
  }
  return out;
}

}  // namespace sotto::api
