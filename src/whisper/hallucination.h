// Finding made-up text beside silence by its words. Needs word times.
#ifndef SOTTO_WHISPER_HALLUCINATION_H_
#define SOTTO_WHISPER_HALLUCINATION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sotto/transcript.h"
#include "whisper/times.h"

namespace sotto::whisper {

/// Whether most of a segment's first words are improbable, too short or too long.
bool is_anomalous(const Segment& segment);

/// What is to happen to a window.
struct SilenceVerdict {
  size_t keep = 0;  ///< Segments 0..keep-1 stand
  std::optional<int64_t>
      next;  ///< Frame at which the next window is to begin; none: as decided before
  bool decode_again =
      false;  ///< Silence comes before the first words: begin the window there, keep nothing of it
};

/// openai/whisper's rules for hallucination_silence_threshold: an anomalous segment between
/// silences longer than `threshold_s` (or at a border of the window, or before another such
/// segment) is dropped together with what follows, and silence before an anomalous first segment is
/// skipped. `last_speech_s`: where speech ended before this window; `recording_frames`: length of
/// the recording; times on the recording's clock.
SilenceVerdict judge_silence(const std::vector<Segment>& segments, const FrameSpan& span,
                             double window_end_s, double threshold_s, double last_speech_s,
                             int64_t recording_frames);

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_HALLUCINATION_H_
