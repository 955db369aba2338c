// From probabilities of speech to spans of speech.
#ifndef SOTTO_VAD_SPEECH_SPANS_H_
#define SOTTO_VAD_SPEECH_SPANS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sotto/status.h"

namespace sotto::vad {

/// Samples [begin, end) of a recording at 16 kHz.
struct Span {
  int64_t begin = 0;
  int64_t end = 0;
  bool operator==(const Span&) const = default;
};

/// Meaning and defaults are whisper.cpp's --vad-* options; the last two say how spans are joined
/// (vad/time_map.h).
struct VadOptions {
  float threshold = 0.5f;  ///< Speech begins at this probability
  std::optional<float>
      neg_threshold;         ///< It ends below this one; none: threshold - 0.15, at least 0.01
  int min_speech_ms = 250;   ///< Shorter speech is dropped
  int min_silence_ms = 100;  ///< Shorter silence does not end a span
  double max_speech_s =
      std::numeric_limits<double>::infinity();  ///< Longer spans are cut at a silence within
  int speech_pad_ms = 30;                       ///< Added at both ends of a span
  bool cut_at_longest_silence =
      false;  ///< Too long a span is cut at its longest silence instead of its last one
  double samples_overlap_s =
      0.1;  ///< What each span but the last goes on beyond its end when spans are joined
  double joint_s = 0.1;  ///< Silence put between joined spans
};

struct VadPreset {
  std::string_view name;
  VadOptions options;
};

/// "whisper.cpp", "faster-whisper" (the defaults of these programs), "silero" (those of Silero's
/// own Python package), "quiet" (for soft voices: they peak at 0.16 to 0.41, the noise of a room
/// below 0.08).
std::span<const VadPreset> vad_presets();

/// kInvalidArgument, with the names, when there is no such preset.
Result<VadOptions> vad_preset(std::string_view name);

/// kInvalidArgument for values out of range.
Status check_vad_options(const VadOptions& options);

/// `probabilities`: one per 512 samples; `samples`: length of the recording; `options`: checked.
/// The spans are in order and do not overlap. The algorithm is that of get_speech_timestamps() in
/// Silero's package.
std::vector<Span> speech_spans(std::span<const float> probabilities, int64_t samples,
                               const VadOptions& options);

}  // namespace sotto::vad

#endif  // SOTTO_VAD_SPEECH_SPANS_H_
