// Finds speech in a recording without transcribing it.
#ifndef SOTTO_SPEECH_DETECTOR_H_
#define SOTTO_SPEECH_DETECTOR_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sotto/status.h"
#include "sotto/transcribe.h"
#include "sotto/vad.h"

namespace sotto {

/// Seconds [start, end) of a recording.
struct SpeechSpan {
  double start = 0;
  double end = 0;
};

struct SpeechActivity {
  double duration = 0;            ///< Seconds of the recording
  std::vector<SpeechSpan> spans;  ///< In order, not overlapping
  std::vector<float> probabilities;
  double seconds_per_probability = 0;
  std::vector<std::string> warnings;
};

/// A loaded voice activity detector. One recording at a time.
class SpeechDetector {
 public:
  /// `path`: the weights or their folder; names are resolved by sotto/models.h.
  static Result<std::unique_ptr<SpeechDetector>> load(const std::string& path);
  virtual ~SpeechDetector() = default;

  /// kCancelled once `should_stop` returns true.
  virtual Result<SpeechActivity> detect(const AudioSource& source, const VadOptions& options,
                                        const std::function<bool()>& should_stop) = 0;
};

}  // namespace sotto

#endif  // SOTTO_SPEECH_DETECTOR_H_
