// Voice activity detection before a transcription: what the model hears of a recording, and the way
// back from its clock to the recording's.
#ifndef SOTTO_API_VOICE_ACTIVITY_H_
#define SOTTO_API_VOICE_ACTIVITY_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audio/recording.h"
#include "sotto/transcribe.h"
#include "sotto/transcript.h"
#include "vad/silero.h"
#include "vad/time_map.h"

namespace sotto::api {

/// The parts of one recording that hold speech, joined.
class SpeechParts {
 public:
  /// `spans`: of speech, in samples. `options`: checked; its clips bound what is looked at.
  SpeechParts(std::span<const vad::Span> spans, int64_t samples, const TranscribeOptions& options);

  /// True when nothing was left out, so that the recording can be used as it is.
  [[nodiscard]] bool is_whole() const { return map_.joined_samples() == samples_; }
  [[nodiscard]] const vad::TimeMap& map() const { return map_; }
  /// The clips of the options on the clock of the joined audio.
  [[nodiscard]] std::vector<std::pair<double, double>> clips() const;

  /// Times of the joined audio become those of the recording.
  void restore(Segment& segment) const;
  void restore(DroppedSpan& dropped) const;
  void restore(RetriedSpan& retried) const;
  [[nodiscard]] double restore(double joined_s) const;

  /// What was left out, as spans with the reason "vad".
  [[nodiscard]] std::vector<DroppedSpan> left_out() const;

 private:
  void restore(double& start, double& end, int64_t margin) const;

  int64_t samples_;
  int64_t pad_;
  std::vector<vad::Span> clips_;
  bool has_clips_;
  vad::TimeMap map_;
};

/// Finds speech for the transcriptions of one model. The weights are loaded when first needed.
class VoiceActivity {
 public:
  /// `model`: see LoadOptions::vad_model.
  explicit VoiceActivity(std::string model) : model_(std::move(model)) {}

  /// Nothing when detection is off, or when there are no weights and VadMode::kAuto lets that pass;
  /// the first time this happens `warnings` says so.
  Result<std::optional<SpeechParts>> find(const audio::SampleBuffer& samples,
                                          const TranscribeOptions& options,
                                          const std::function<bool()>& should_stop,
                                          std::vector<std::string>& warnings);

 private:
  Status load();

  std::string model_;
  std::shared_ptr<const vad::Silero> silero_;
  bool has_warned_ = false;
};

}  // namespace sotto::api

#endif  // SOTTO_API_VOICE_ACTIVITY_H_
