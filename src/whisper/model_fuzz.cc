// Whatever a model file's bytes say, loading it ends in an error or in a model that runs.
#include <cstddef>
#include <cstdint>
#include <span>

#include "models/formats/detect.h"
#include "models/formats/model_file.h"
#include "ops/cpu_backend.h"
#include "whisper/config.h"
#include "whisper/decoder.h"
#include "whisper/encoder.h"
#include "whisper/weights.h"
#include "whisper/weights_naming.h"

namespace sotto::whisper {
namespace {

Status read(std::span<const std::byte> bytes, models::ModelFile& file) {
  SOTTO_ASSIGN_OR_RETURN(const models::FileFormat format, models::detect_format(bytes));
  switch (format) {
    case models::FileFormat::kCTranslate2:
      return read_ctranslate2(bytes, file);
    case models::FileFormat::kGgml:
      return read_ggml(bytes, file);
    case models::FileFormat::kGguf:
      return read_gguf(bytes, file);
    case models::FileFormat::kSafetensors:
      return read_safetensors(bytes, file);
  }
  return {};
}

Status load_and_run(std::span<const std::byte> bytes) {
  models::ModelFile file;
  SOTTO_RETURN_IF_ERROR(read(bytes, file));
  for (const char* heads : {"n_audio_head", "n_text_head"}) {
    file.metadata.try_emplace(heads, int64_t{2});  // Stands for the config.json of a folder
  }
  SOTTO_ASSIGN_OR_RETURN(const Naming naming, detect_naming(file));
  SOTTO_ASSIGN_OR_RETURN(const Config config, read_config(file, naming));
  SOTTO_ASSIGN_OR_RETURN(
      const auto backend,
      ops::make_cpu_backend(
          {.isa = CpuIsa::kScalar, .compute = ops::ComputeType::kF32, .threads = 1}));
  SOTTO_ASSIGN_OR_RETURN(const Weights weights, upload_weights(file, naming, config, *backend));
  const std::vector<float> mel(static_cast<size_t>(2 * config.n_mels));
  SOTTO_ASSIGN_OR_RETURN(const auto encoded, run_encoder(*backend, config, weights, mel, 1));
  SOTTO_ASSIGN_OR_RETURN(const auto window, make_window(*backend, config, weights, encoded));
  SOTTO_ASSIGN_OR_RETURN(const auto decoder, CachedDecoder::create(*backend, config, weights, 1));
  std::vector<float> logits(static_cast<size_t>(config.n_vocab));
  std::vector<float> alignment;
  return decoder->step({{0}, {{0, 0}}, {window.get()}, {0}}, logits, &alignment);
}

}  // namespace
}  // namespace sotto::whisper

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)sotto::whisper::load_and_run(std::as_bytes(std::span(data, size)));
  return 0;
}
