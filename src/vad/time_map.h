// Joins spans of a recording and leads times of the joined audio back to the recording's clock.
#ifndef SOTTO_VAD_TIME_MAP_H_
#define SOTTO_VAD_TIME_MAP_H_

#include <cstdint>
#include <span>
#include <vector>

#include "audio/recording.h"
#include "vad/speech_spans.h"

namespace sotto::vad {

/// All positions are samples at 16 kHz unless a name says seconds. Exact to the sample.
class TimeMap {
 public:
  /// `spans`: in order, not overlapping, within [0, samples). Each but the last goes on for
  /// options.samples_overlap_s, at most to the next one's begin; options.joint_s of zeros stands
  /// between them.
  TimeMap(std::span<const Span> spans, int64_t samples, const VadOptions& options);

  /// Length of the joined audio.
  [[nodiscard]] int64_t joined_samples() const { return joined_; }
  /// What of it comes from the recording.
  [[nodiscard]] int64_t kept_samples() const { return kept_; }
  /// The parts of the recording that are left out.
  [[nodiscard]] std::vector<Span> dropped() const;

  /// The joined audio. `recording` has the length the map was made for.
  [[nodiscard]] audio::SampleBuffer join(const audio::SampleBuffer& recording) const;

  /// Where two pieces meet, one joined time is two times of the recording: as the start of
  /// something it means the later piece, as its end the earlier one. The same holds within the
  /// zeros between pieces.
  enum class Edge { kStart, kEnd };
  /// Positions outside the joined audio give the nearest one inside; 0 when nothing was kept.
  [[nodiscard]] int64_t to_recording(int64_t joined, Edge edge) const;
  [[nodiscard]] double to_recording_seconds(double joined_s, Edge edge) const;

  /// Where [begin, end) of the joined audio was said. What reaches over a joint by at most `margin`
  /// is taken as an error of its border and stays on the side that holds more of it; otherwise it
  /// spans what was left out. Positions within the joined audio.
  [[nodiscard]] Span to_recording(const Span& joined, int64_t margin) const;

  /// Where a position of the recording went; one that was left out went to the next one that was
  /// not.
  [[nodiscard]] int64_t to_joined(int64_t recording) const;

 private:
  struct Piece {
    int64_t joined, recording, length;
    [[nodiscard]] int64_t joined_end() const { return joined + length; }
  };
  std::vector<Piece> pieces_;
  int64_t samples_;
  int64_t joined_ = 0;
  int64_t kept_ = 0;
};

}  // namespace sotto::vad

#endif  // SOTTO_VAD_TIME_MAP_H_
