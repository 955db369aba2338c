#include "api/voice_activity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/cpu_features.h"
#include "sotto/models.h"
#include "vad/speech_spans.h"

namespace sotto::api {
namespace {

constexpr double kRate = audio::kSampleRate;

double seconds(int64_t samples) {
  return static_cast<double>(samples) / kRate;
}

std::vector<vad::Span> clip_spans(const TranscribeOptions& options, int64_t samples) {
  if (options.clips.empty()) return {{0, samples}};
  std::vector<vad::Span> spans;
  for (const auto& [start, end] : options.clips) {
    const auto at = [samples](double s) {
      return std::clamp<int64_t>(std::llround(std::min(s, seconds(samples)) * kRate), 0, samples);
    };
    spans.push_back({at(start), end < 0 ? samples : at(end)});
  }
  return spans;
}

std::vector<vad::Span> heard_spans(std::span<const vad::Span> speech, int64_t samples,
                                   std::span<const vad::Span> clips, const VadOptions& options) {
  return vad::intersect(vad::without_short_gaps(speech, samples, options), clips);
}

}  // namespace

SpeechParts::SpeechParts(std::span<const vad::Span> spans, int64_t samples,
                         const TranscribeOptions& options)
    : samples_(samples),
      pad_(int64_t{options.vad.speech_pad_ms} * audio::kSampleRate / 1000),
      clips_(clip_spans(options, samples)),
      has_clips_(!options.clips.empty()),
      map_(heard_spans(spans, samples, clips_, options.vad), samples, options.vad) {}

std::vector<std::pair<double, double>> SpeechParts::clips() const {
  std::vector<std::pair<double, double>> joined;
  if (!has_clips_) return joined;
  for (const vad::Span& clip : clips_) {
    const int64_t begin = map_.to_joined(clip.begin), end = map_.to_joined(clip.end);
    if (begin < end) joined.emplace_back(seconds(begin), seconds(end));
  }
  return joined;
}

void SpeechParts::restore(double& start, double& end, int64_t margin) const {
  const vad::Span joined = {std::llround(start * kRate), std::llround(end * kRate)};
  const vad::Span span = map_.to_recording(joined, margin);
  start = seconds(span.begin);
  end = seconds(span.end);
}

void SpeechParts::restore(Segment& segment) const {
  constexpr int kFramesPerSecond = 100;
  segment.seek = static_cast<int>(
      std::floor(restore(segment.seek / double{kFramesPerSecond}) * kFramesPerSecond));
  restore(segment.start, segment.end, pad_);
  // A word or token is never said on both sides of a joint.
  constexpr int64_t kAnyLength = std::numeric_limits<int64_t>::max();
  for (Token& token : segment.tokens)
    restore(token.start, token.end, kAnyLength);
  for (Word& word : segment.words)
    restore(word.start, word.end, kAnyLength);
  if (segment.words.empty()) return;
  segment.start = segment.words.front().start;
  segment.end = std::max(segment.start, segment.words.back().end);
}

void SpeechParts::restore(DroppedSpan& dropped) const {
  restore(dropped.start, dropped.end, pad_);
}

void SpeechParts::restore(RetriedSpan& retried) const {
  restore(retried.start, retried.end, pad_);
}

double SpeechParts::restore(double joined_s) const {
  return map_.to_recording_seconds(joined_s, vad::TimeMap::Edge::kStart);
}

std::vector<DroppedSpan> SpeechParts::left_out() const {
  std::vector<DroppedSpan> result;
  for (const vad::Span& span : vad::intersect(map_.dropped(), clips_))
    result.push_back({seconds(span.begin), seconds(span.end), "vad", {}});
  return result;
}

Status VoiceActivity::load() {
  if (silero_ != nullptr) return {};
  std::string path = model_;
  if (model_ == "auto") {
    SOTTO_ASSIGN_OR_RETURN(const ModelStore store, ModelStore::open_default());
    SOTTO_ASSIGN_OR_RETURN(const ModelInfo best, store.best(ModelKind::kVad));
    path = best.path;
  }
  SOTTO_ASSIGN_OR_RETURN(const CpuIsa isa, cpu_isa_from_environment());
  SOTTO_ASSIGN_OR_RETURN(silero_, vad::Silero::load(path, isa));
  return {};
}

Result<std::optional<SpeechParts>> VoiceActivity::find(const audio::SampleBuffer& samples,
                                                       const TranscribeOptions& options,
                                                       const std::function<bool()>& should_stop,
                                                       std::vector<std::string>& warnings) {
  std::optional<SpeechParts> parts;
  if (options.vad_mode == VadMode::kOff) return parts;
  SOTTO_RETURN_IF_ERROR(check_vad_options(options.vad));
  if (const Status loaded = load(); !loaded.ok()) {
    const bool is_optional = options.vad_mode == VadMode::kAuto && model_ == "auto" &&
                             loaded.code() == StatusCode::kNotFound;
    if (!is_optional) return loaded;
    if (!has_warned_) {
      warnings.push_back(
          "silence is not skipped: the voice activity detector is not installed"
          " (sotto pull silero-vad)");
    }
    has_warned_ = true;
    return parts;
  }
  SOTTO_ASSIGN_OR_RETURN(const std::vector<float> probabilities,
                         vad::speech_probabilities(silero_, samples, should_stop));
  parts.emplace(vad::speech_spans(probabilities, samples.size(), options.vad), samples.size(),
                options);
  return parts;
}

}  // namespace sotto::api
