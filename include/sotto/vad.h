// Voice activity detection: which parts of a recording hold speech.
#ifndef SOTTO_VAD_H_
#define SOTTO_VAD_H_

#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "sotto/status.h"

namespace sotto {

/// How speech is told from the rest. Names are those of whisper.cpp's --vad-* options, with the
/// same meaning. The defaults are sotto's own and made to lose nothing: only a long stretch without
/// speech is left out (docs/decisions/0003-voice-activity.md).
struct VadOptions {
  float threshold = 0.5f;  ///< Speech begins at this probability
  std::optional<float>
      neg_threshold;         ///< It ends below this one; none: threshold - 0.15, at least 0.01
  int min_speech_ms = 250;   ///< Shorter speech is dropped
  int min_silence_ms = 100;  ///< Shorter silence does not end a span
  double max_speech_s =
      std::numeric_limits<double>::infinity();  ///< Longer spans are cut at a silence within
  int speech_pad_ms = 400;                      ///< Added at both ends of a span
  bool cut_at_longest_silence =
      false;  ///< Too long a span is cut at its longest silence instead of its last one
  // The rest says what a transcription makes of the spans.
  double min_gap_s = 2;          ///< A shorter gap beside padded speech stays in
  double samples_overlap_s = 0;  ///< What each kept part but the last goes on beyond its end
  double joint_s = 0;            ///< Silence put between kept parts
};

struct VadPreset {
  std::string_view name;
  VadOptions options;
};

/// "sotto" (the defaults), "whisper.cpp", "faster-whisper" (those of these programs), "silero"
/// (those of Silero's own Python package), "quiet" (for soft voices: they peak at 0.16 to 0.41, the
/// noise of a room below 0.08).
std::span<const VadPreset> vad_presets();

/// kInvalidArgument, with the names, when there is no such preset.
Result<VadOptions> vad_preset(std::string_view name);

/// kInvalidArgument for values out of range.
Status check_vad_options(const VadOptions& options);

}  // namespace sotto

#endif  // SOTTO_VAD_H_
