// A checkpoint on the CPU without the tokenizer around it, and short cuts to run it.
#ifndef SOTTO_WHISPER_TESTING_LOADED_CHECKPOINT_H_
#define SOTTO_WHISPER_TESTING_LOADED_CHECKPOINT_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/formats/model_file.h"
#include "ops/cpu_backend.h"
#include "sotto/status.h"
#include "whisper/config.h"
#include "whisper/model.h"
#include "whisper/weights.h"
#include "whisper/weights_naming.h"

namespace sotto::whisper::testing {

struct LoadedCheckpoint {
  models::ModelFile file;
  Naming naming;
  std::unique_ptr<ops::Backend> backend;
  Config config;
  Weights weights;
};

/// A CPU backend of the instruction set that SOTTO_CPU names, else the best one, with two threads.
std::unique_ptr<ops::Backend> make_test_backend(ops::ComputeType compute = ops::ComputeType::kF32);

/// What load_model does before it turns to the tokenizer.
Result<std::unique_ptr<LoadedCheckpoint>> load_file(
    models::ModelFile file, ops::ComputeType compute = ops::ComputeType::kF32);
/// The same by path; ends the test when it fails.
std::unique_ptr<LoadedCheckpoint> load_checkpoint(
    const std::string& path, ops::ComputeType compute = ops::ComputeType::kF32);

/// mel [2 * positions, n_mels] with values like those of speech.
std::vector<float> random_mel(const Config& config, int positions, uint32_t seed);

std::unique_ptr<EncodedWindow> encode(LoadedCheckpoint& loaded, std::span<const float> mel,
                                      int positions);

/// Encoder output [positions, d_model].
std::vector<float> encoder_output(LoadedCheckpoint& loaded, std::span<const float> mel,
                                  int positions);

/// One step that feeds `tokens` from position `first` on in cache slot `sequence` and asks for all
/// logits.
std::vector<float> feed(Decoder& decoder, const Config& config, const EncodedWindow& window,
                        const std::vector<int>& tokens, int64_t first = 0, int sequence = 0);

/// Logits of `tokens` from scratch in a decoder of its own.
std::vector<float> forward(LoadedCheckpoint& loaded, const EncodedWindow& window,
                           const std::vector<int>& tokens);

double cosine(std::span<const float> a, std::span<const float> b);
double largest_difference(std::span<const float> a, std::span<const float> b);

}  // namespace sotto::whisper::testing

#endif  // SOTTO_WHISPER_TESTING_LOADED_CHECKPOINT_H_
