#include "vad/time_map.h"

#include <algorithm>
#include <cmath>

namespace sotto::vad {
namespace {

int64_t to_samples(double seconds) {
  return std::llround(seconds * audio::kSampleRate);
}

}  // namespace

TimeMap::TimeMap(std::span<const Span> spans, int64_t samples, const VadOptions& options)
    : samples_(samples) {
  const int64_t overlap = to_samples(options.samples_overlap_s);
  const int64_t joint = to_samples(options.joint_s);
  for (size_t i = 0; i < spans.size(); ++i) {
    const bool is_last = i + 1 == spans.size();
    const int64_t end =
        is_last ? spans[i].end : std::min(spans[i].end + overlap, spans[i + 1].begin);
    const int64_t length = end - spans[i].begin;
    pieces_.push_back({joined_, spans[i].begin, length});
    kept_ += length;
    joined_ += length + (is_last ? 0 : joint);
  }
}

std::vector<Span> TimeMap::dropped() const {
  std::vector<Span> result;
  int64_t at = 0;
  for (const Piece& piece : pieces_) {
    if (piece.recording > at) result.push_back({at, piece.recording});
    at = piece.recording + piece.length;
  }
  if (at < samples_) result.push_back({at, samples_});
  return result;
}

audio::SampleBuffer TimeMap::join(const audio::SampleBuffer& recording) const {
  constexpr int64_t kPart = int64_t{1} << 16;
  audio::SampleBuffer joined;
  std::vector<float> part(kPart);
  for (const Piece& piece : pieces_) {
    joined.append(std::vector<float>(static_cast<size_t>(piece.joined - joined.size())));
    for (int64_t done = 0; done < piece.length; done += kPart) {
      const auto now =
          std::span(part).first(static_cast<size_t>(std::min(kPart, piece.length - done)));
      recording.read(piece.recording + done, now);
      joined.append(now);
    }
  }
  return joined;
}

int64_t TimeMap::to_recording(int64_t joined, Edge edge) const {
  if (pieces_.empty()) return 0;
  // The first piece that begins behind the position; as an end, a piece's first sample still
  // belongs to the one before.
  const auto after = std::partition_point(pieces_.begin(), pieces_.end(), [&](const Piece& piece) {
    return edge == Edge::kStart ? piece.joined <= joined : piece.joined < joined;
  });
  if (after == pieces_.begin()) return pieces_.front().recording;
  const Piece& piece = *std::prev(after);
  const int64_t offset = joined - piece.joined;
  if (offset < piece.length) return piece.recording + offset;
  const bool is_between = after != pieces_.end();
  return edge == Edge::kStart && is_between ? after->recording : piece.recording + piece.length;
}

Span TimeMap::to_recording(const Span& joined, int64_t margin) const {
  Span inside = joined;
  for (const Piece& piece : pieces_) {
    const int64_t before = piece.joined_end() - inside.begin;  // of the interval, in this piece
    if (before > 0 && before <= margin && inside.end - piece.joined_end() > before &&
        inside.begin >= piece.joined) {
      inside.begin = piece.joined_end();
    }
    const int64_t after = inside.end - piece.joined;
    if (after > 0 && after <= margin && piece.joined - inside.begin >= after &&
        inside.end <= piece.joined_end()) {
      inside.end = piece.joined;
    }
  }
  const int64_t begin = to_recording(inside.begin, Edge::kStart);
  return {begin, std::max(begin, to_recording(inside.end, Edge::kEnd))};
}

int64_t TimeMap::to_joined(int64_t recording) const {
  for (const Piece& piece : pieces_) {
    if (recording < piece.recording + piece.length)
      return piece.joined + std::max<int64_t>(0, recording - piece.recording);
  }
  return joined_;
}

double TimeMap::to_recording_seconds(double joined_s, Edge edge) const {
  return static_cast<double>(to_recording(to_samples(joined_s), edge)) / audio::kSampleRate;
}

}  // namespace sotto::vad
