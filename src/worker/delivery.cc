#include "worker/delivery.h"

#include <algorithm>
#include <utility>

namespace sotto::worker {
namespace {

/// Two tries that cut their segments differently may overlap by this much (one timestamp token).
constexpr double kOverlapSeconds = 0.02;

}  // namespace

void Delivery::audio(double duration_s) {
  if (!std::exchange(audio_told_, true) && callbacks_.on_audio) callbacks_.on_audio(duration_s);
}

void Delivery::language(const std::string& code, float probability) {
  if (!std::exchange(language_told_, true) && callbacks_.on_language)
    callbacks_.on_language(code, probability);
}

void Delivery::progress(double done_s, double total_s) {
  if (done_s < done_s_) return;
  done_s_ = done_s;
  if (callbacks_.on_progress) callbacks_.on_progress(done_s, total_s);
}

bool Delivery::is_repetition(const Segment& segment) {
  if (first_try_ == 0) return false;
  const auto index = static_cast<size_t>(std::max(segment.id, 0));
  if (!tries_differ_ && index >= first_try_) return false;
  if (!tries_differ_ && delivered_[index].text == segment.text &&
      delivered_[index].start == segment.start && delivered_[index].end == segment.end) {
    return true;
  }
  tries_differ_ = true;  // from here on only the clock tells what is new
  return segment.start < delivered_[first_try_ - 1].end - kOverlapSeconds;
}

void Delivery::segment(const Segment& segment) {
  if (is_repetition(segment)) return;
  delivered_.push_back(segment);
  delivered_.back().id = static_cast<int>(delivered_.size()) - 1;
  if (callbacks_.on_segment) callbacks_.on_segment(delivered_.back());
}

void Delivery::reconcile(Transcript& transcript) const {
  if (!tries_differ_) return;
  transcript.segments = delivered_;
  std::string text;
  for (const Segment& segment : delivered_)
    text += segment.text;
  const size_t first = text.find_first_not_of(' ');
  transcript.text = first == std::string::npos
                        ? std::string()
                        : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace sotto::worker
