#include "api/speakers.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace sotto::api {
namespace {

/// Sum of magnitudes of samples [begin, end).
double loudness(const audio::SampleBuffer& channel, int64_t begin, int64_t end) {
  constexpr int64_t kPart = int64_t{1} << 16;
  std::vector<float> part(static_cast<size_t>(std::clamp<int64_t>(end - begin, 0, kPart)));
  double sum = 0;
  for (int64_t at = begin; at < end; at += kPart) {
    const auto now = std::span(part).first(static_cast<size_t>(std::min(kPart, end - at)));
    channel.read(at, now);
    for (const float sample : now)
      sum += static_cast<double>(std::abs(sample));
  }
  return sum;
}

int64_t sample_at(double seconds, int64_t samples) {
  return std::clamp<int64_t>(std::llround(seconds * audio::kSampleRate), 0, samples);
}

}  // namespace

void ChannelSpeakers::label(Segment& segment) const {
  if (!is_stereo()) return;
  constexpr double kClearlyLouder = 1.1;
  const int64_t begin = sample_at(segment.start, left_.size());
  const int64_t end = sample_at(segment.end, left_.size());
  const double left = loudness(left_, begin, end), right = loudness(right_, begin, end);
  if (left > kClearlyLouder * right) {
    segment.speaker = "Speaker 0";
  } else if (right > kClearlyLouder * left) {
    segment.speaker = "Speaker 1";
  } else {
    segment.speaker = "Speaker ?";
  }
}

}  // namespace sotto::api
