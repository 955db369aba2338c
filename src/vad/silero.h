// Silero VAD version 6 for 16 kHz: the probability that a chunk of 32 ms holds speech.
// Source of the graph: https://github.com/snakers4/silero-vad (MIT), its published weights and
// model description.
#ifndef SOTTO_VAD_SILERO_H_
#define SOTTO_VAD_SILERO_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "audio/recording.h"
#include "base/cpu_features.h"
#include "models/formats/model_file.h"
#include "sotto/status.h"
#include "vad/packed_linear.h"

namespace sotto::vad {

/// Samples a probability stands for.
inline constexpr int kChunkSamples = 512;

/// The weights. Immutable after load(), so that any number of streams may share them.
class Silero {
 public:
  /// `path`: the safetensors file or a folder that holds it. `isa`: from
  /// cpu_isa_from_environment(). Errors: those of models::open_model_file; kUnsupported when the
  /// file holds another model.
  static Result<std::shared_ptr<const Silero>> load(const std::string& path, CpuIsa isa);

 private:
  friend class SileroStream;
  Silero() = default;
  Status read(const models::ModelFile& file, const kernels::KernelTable& kernels);

  PackedLinear stft_;                 ///< [258, 256]: real, then imaginary parts of 129 frequencies
  std::array<PackedLinear, 4> conv_;  ///< [out, taps * in], taps outermost
  PackedLinear lstm_input_, lstm_state_;  ///< [512, 128]: input, forget, cell and output gates
  std::vector<float> out_weight_;         ///< [128]
  float out_bias_ = 0;
};

/// One recording's way through the network, which carries a state from chunk to chunk. One thread
/// at a time.
class SileroStream {
 public:
  explicit SileroStream(std::shared_ptr<const Silero> model);

  /// The next chunks: samples [n * 512] to probabilities [n]. Several at once are faster and give
  /// the same result.
  void push(std::span<const float> samples, std::span<float> probabilities);
  /// Forgets what came before.
  void reset();

 private:
  static constexpr int kBatch = 16;
  void push_batch(const float* samples, int chunks, float* probabilities);
  void encode(int chunks);
  float step(const float* gates);

  struct Scratch;
  std::shared_ptr<const Silero> model_;
  std::shared_ptr<Scratch> scratch_;
};

/// One probability per 512 samples of the recording, the last chunk filled up with zeros.
/// kCancelled on should_stop.
Result<std::vector<float>> speech_probabilities(const std::shared_ptr<const Silero>& model,
                                                const audio::SampleBuffer& samples,
                                                const std::function<bool()>& should_stop = {});

}  // namespace sotto::vad

#endif  // SOTTO_VAD_SILERO_H_
