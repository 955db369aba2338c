#include "cli/vad_flags.h"

#include <cmath>

#include "sotto/models.h"

namespace sotto::cli {
namespace {

constexpr float kDayMs = 24 * 3600 * 1000;
constexpr float kDayS = 24 * 3600;

void override_ms(const std::optional<float>& given, int& target) {
  if (given) target = static_cast<int>(std::lround(*given));
}

void override_s(const std::optional<float>& given, double& target) {
  if (given) target = static_cast<double>(*given);
}

}  // namespace

std::vector<Flag> vad_flags(VadFlags& f) {
  return {
      {"--vad-preset", "NAME",
       "sotto (the default), whisper.cpp, faster-whisper, silero, or quiet for soft voices",
       store(f.preset)},
      {"-vm --vad-model", "NAME|PATH", "the detector (default: the installed one)", store(f.model)},
      {"-vt --vad-threshold --vad-onset", "P", "speech begins at this probability (0.5)",
       store(f.threshold, 0, 1)},
      {"--vad-neg-threshold --vad-offset", "P", "speech ends below this probability (0.35)",
       store(f.neg_threshold, 0, 1)},
      {"-vspd --vad-min-speech-duration-ms", "MS", "shorter speech is dropped (250)",
       store(f.min_speech_ms, 0, kDayMs)},
      {"-vsd --vad-min-silence-duration-ms", "MS", "shorter silence does not end speech (100)",
       store(f.min_silence_ms, 0, kDayMs)},
      {"-vmsd --vad-max-speech-duration-s", "S", "longer speech is cut at a silence (no limit)",
       store(f.max_speech_s, 0, std::numeric_limits<float>::infinity())},
      {"-vp --vad-speech-pad-ms", "MS", "added at both ends of speech (400)",
       store(f.speech_pad_ms, 0, kDayMs)},
      {"-vo --vad-samples-overlap", "S", "each part goes on this long beyond its end (0)",
       store(f.samples_overlap_s, 0, 60)},
      {"--vad-min-gap", "S", "a shorter gap beside speech is not left out (2)",
       store(f.min_gap_s, 0, kDayS)}};
}

Result<VadOptions> vad_options(const VadFlags& flags) {
  Result<VadOptions> preset = vad_preset(flags.preset);
  if (!preset.ok()) return preset.status().with_context("--vad-preset");
  VadOptions options = *preset;
  if (flags.threshold) {
    options.threshold = *flags.threshold;
    options.neg_threshold.reset();  // the preset's belongs to the preset's threshold
  }
  if (flags.neg_threshold) options.neg_threshold = flags.neg_threshold;
  override_ms(flags.min_speech_ms, options.min_speech_ms);
  override_ms(flags.min_silence_ms, options.min_silence_ms);
  override_ms(flags.speech_pad_ms, options.speech_pad_ms);
  override_s(flags.max_speech_s, options.max_speech_s);
  override_s(flags.min_gap_s, options.min_gap_s);
  override_s(flags.samples_overlap_s, options.samples_overlap_s);
  SOTTO_RETURN_IF_ERROR(check_vad_options(options));
  return options;
}

Result<std::string> find_vad_model(const VadFlags& flags) {
  SOTTO_ASSIGN_OR_RETURN(const ModelStore store, ModelStore::open_default());
  if (flags.model != "auto") return store.resolve(flags.model, ModelKind::kVad);
  SOTTO_ASSIGN_OR_RETURN(const ModelInfo best, store.best(ModelKind::kVad));
  return best.path;
}

}  // namespace sotto::cli
