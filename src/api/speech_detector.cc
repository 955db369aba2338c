#include "sotto/speech_detector.h"

#include <utility>

#include "api/audio_source.h"
#include "base/cpu_features.h"
#include "vad/silero.h"
#include "vad/speech_spans.h"

namespace sotto {
namespace {

class SileroDetector final : public SpeechDetector {
 public:
  explicit SileroDetector(std::shared_ptr<const vad::Silero> model) : model_(std::move(model)) {}

  Result<SpeechActivity> detect(const AudioSource& source, const VadOptions& options,
                                const std::function<bool()>& should_stop) override {
    SOTTO_RETURN_IF_ERROR(check_vad_options(options));
    audio::DecodeOptions decoding;
    decoding.should_stop = should_stop;
    SOTTO_ASSIGN_OR_RETURN(audio::Recording recording, api::decode(source, decoding));
    SpeechActivity activity;
    activity.duration = recording.seconds();
    activity.warnings = std::move(recording.warnings);
    activity.seconds_per_probability = double{vad::kChunkSamples} / audio::kSampleRate;
    SOTTO_ASSIGN_OR_RETURN(activity.probabilities,
                           vad::speech_probabilities(model_, recording.mono, should_stop));
    for (const vad::Span& span :
         vad::speech_spans(activity.probabilities, recording.mono.size(), options)) {
      activity.spans.push_back({static_cast<double>(span.begin) / audio::kSampleRate,
                                static_cast<double>(span.end) / audio::kSampleRate});
    }
    return activity;
  }

 private:
  std::shared_ptr<const vad::Silero> model_;
};

}  // namespace

Result<std::unique_ptr<SpeechDetector>> SpeechDetector::load(const std::string& path) {
  SOTTO_ASSIGN_OR_RETURN(const CpuIsa isa, cpu_isa_from_environment());
  SOTTO_ASSIGN_OR_RETURN(std::shared_ptr<const vad::Silero> model, vad::Silero::load(path, isa));
  return std::unique_ptr<SpeechDetector>(std::make_unique<SileroDetector>(std::move(model)));
}

}  // namespace sotto
