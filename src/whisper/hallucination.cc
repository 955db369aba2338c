#include "whisper/hallucination.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace sotto::whisper {
namespace {

constexpr std::string_view kPunctuation = "\"'“¿([{-\"'.。,，!！?？:：”)]}、";
constexpr size_t kJudgedWords = 8;
constexpr double kNearBorder = 2.0;  // Seconds from a border of the window that count as silence

double anomaly(const Word& word) {
  const double duration = word.end - word.start;
  double score = 0;
  if (word.probability < 0.15f) score += 1;
  if (duration < 0.133) score += (0.133 - duration) * 15;
  if (duration > 2.0) score += duration - 2.0;
  return score;
}

const Segment* first_with_words(const std::vector<Segment>& segments, size_t from) {
  for (size_t i = from; i < segments.size(); ++i) {
    if (!segments[i].words.empty()) return &segments[i];
  }
  return nullptr;
}

int64_t frame_at(double seconds) {
  return std::llround(seconds * kFramesPerSecond);
}

}  // namespace

bool is_anomalous(const Segment& segment) {
  size_t judged = 0;
  double score = 0;
  for (const Word& word : segment.words) {
    if (kPunctuation.find(word.text) != std::string_view::npos) continue;
    score += anomaly(word);
    if (++judged == kJudgedWords) break;
  }
  if (segment.words.empty()) return false;
  return score >= 3 || score + 0.01 >= static_cast<double>(judged);
}

SilenceVerdict judge_silence(const std::vector<Segment>& segments, const FrameSpan& span,
                             double window_end_s, double threshold_s, double last_speech_s,
                             int64_t recording_frames) {
  SilenceVerdict verdict;
  verdict.keep = segments.size();
  if (const Segment* first = first_with_words(segments, 0);
      first != nullptr && is_anomalous(*first)) {
    const double gap = first->start - span.start_s();
    if (gap > threshold_s) return {0, span.begin + frame_at(gap), true};
  }
  const double recording_s = static_cast<double>(recording_frames) * kSecondsPerFrame;
  double speech_end = last_speech_s;
  for (size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = segments[i];
    if (segment.words.empty()) continue;
    if (is_anomalous(segment)) {
      const Segment* following = first_with_words(segments, i + 1);
      const double following_start =
          following != nullptr ? following->words.front().start : span.end_s();
      const bool silence_before = segment.start - speech_end > threshold_s ||
                                  segment.start < threshold_s ||
                                  segment.start - span.start_s() < kNearBorder;
      const bool silence_after = following_start - segment.end > threshold_s ||
                                 (following != nullptr && is_anomalous(*following)) ||
                                 window_end_s - segment.end < kNearBorder;
      if (silence_before && silence_after) {
        verdict.keep = i;
        verdict.next = frame_at(std::max(span.start_s() + 1, segment.start));
        if (recording_s - segment.end < threshold_s) verdict.next = recording_frames;
        return verdict;
      }
    }
    speech_end = segment.end;
  }
  return verdict;
}

}  // namespace sotto::whisper
