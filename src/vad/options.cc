#include "sotto/vad.h"

#include <array>
#include <string>

namespace sotto {
namespace {

VadOptions whisper_cpp() {
  VadOptions o;
  o.speech_pad_ms = 30;
  o.min_gap_s = 0;
  o.samples_overlap_s = 0.1;
  o.joint_s = 0.1;
  return o;
}

VadOptions faster_whisper() {
  VadOptions o;
  o.min_speech_ms = 0;
  o.min_silence_ms = 2000;
  o.min_gap_s = 0;
  return o;
}

VadOptions silero() {
  VadOptions o;
  o.speech_pad_ms = 30;
  o.cut_at_longest_silence = true;
  o.min_gap_s = 0;
  return o;
}

VadOptions quiet() {
  VadOptions o = whisper_cpp();
  o.threshold = 0.12f;
  o.neg_threshold = 0.08f;  // the usual distance of 0.15 would end below the noise and so never
  return o;
}

}  // namespace

std::span<const VadPreset> vad_presets() {
  static const std::array<VadPreset, 5> kPresets = {{{"sotto", VadOptions()},
                                                     {"whisper.cpp", whisper_cpp()},
                                                     {"faster-whisper", faster_whisper()},
                                                     {"silero", silero()},
                                                     {"quiet", quiet()}}};
  return kPresets;
}

Result<VadOptions> vad_preset(std::string_view name) {
  std::string names;
  for (const VadPreset& preset : vad_presets()) {
    if (preset.name == name) return preset.options;
    names += (names.empty() ? "" : ", ") + std::string(preset.name);
  }
  return invalid_argument("unknown VAD preset \"" + std::string(name) + "\"; there are " + names);
}

Status check_vad_options(const VadOptions& options) {
  const auto in = [](double x, double low, double high) {
    return x >= low && x <= high;
  };  // false for NaN
  if (!in(options.threshold, 0, 1))
    return invalid_argument("the VAD threshold must be between 0 and 1");
  if (options.neg_threshold && !in(*options.neg_threshold, 0, options.threshold)) {
    return invalid_argument(
        "the VAD threshold for the end of speech must be between 0 and the one for its start");
  }
  constexpr int kMostMs = 24 * 3600 * 1000;
  if (!in(options.min_speech_ms, 0, kMostMs) || !in(options.min_silence_ms, 0, kMostMs) ||
      !in(options.speech_pad_ms, 0, kMostMs)) {
    return invalid_argument("VAD durations must be between 0 and a day");
  }
  const double shortest = 0.1 + 2e-3 * options.speech_pad_ms;
  if (!(options.max_speech_s >= shortest)) {
    return invalid_argument("the longest speech must be at least 0.1 s plus its padding, here " +
                            std::to_string(shortest) + " s");
  }
  if (!in(options.min_gap_s, 0, kMostMs / 1000.0))
    return invalid_argument("the shortest gap left out must be between 0 s and a day");
  constexpr double kMostJoint = 60;
  if (!in(options.samples_overlap_s, 0, kMostJoint) || !in(options.joint_s, 0, kMostJoint)) {
    return invalid_argument("overlap and silence between joined speech must be between 0 and 60 s");
  }
  return {};
}

}  // namespace sotto
