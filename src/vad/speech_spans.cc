#include "vad/speech_spans.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "audio/recording.h"
#include "vad/silero.h"

namespace sotto::vad {
namespace {

constexpr int64_t kSamplesPerMs = audio::kSampleRate / 1000;
// Only a silence longer than this is a place to cut a long span.
constexpr int64_t kCutSilence = 98 * kSamplesPerMs;

float end_threshold(const VadOptions& options) {
  constexpr float kDistance = 0.15f;
  constexpr float kLowest = 0.01f;
  return options.neg_threshold.value_or(std::max(options.threshold - kDistance, kLowest));
}

/// Takes one probability after the other and collects spans without padding.
class SpanFinder {
 public:
  explicit SpanFinder(const VadOptions& options)
      : options_(options),
        end_threshold_(end_threshold(options)),
        max_speech_(options.max_speech_s * audio::kSampleRate - kChunkSamples -
                    2.0 * static_cast<double>(options.speech_pad_ms * kSamplesPerMs)) {}

  void add(int64_t at, float probability) {
    if (probability >= options_.threshold) {
      if (silence_) end_silence(at);
      if (!start_) {
        start_ = at;
        return;
      }
    }
    if (start_ && static_cast<double>(at - *start_) > max_speech_ && !cut_long_span(at)) return;
    if (start_ && probability < end_threshold_) add_silence(at);
  }

  std::vector<Span> finish(int64_t samples) {
    if (start_ && samples - *start_ > min_speech()) spans_.push_back({*start_, samples});
    return std::move(spans_);
  }

 private:
  struct Silence {
    int64_t begin, end;
  };

  [[nodiscard]] int64_t min_speech() const { return options_.min_speech_ms * kSamplesPerMs; }

  // Speech has come back before the silence was long enough to end the span.
  void end_silence(int64_t at) {
    if (at - *silence_ > kCutSilence) silences_.push_back({*silence_, at});
    silence_.reset();
    if (cut_ && !resume_) resume_ = at;
  }

  void add_silence(int64_t at) {
    if (!silence_) silence_ = at;
    if (at - *silence_ > kCutSilence && cut_ != silence_) {
      cut_ = silence_;
      resume_.reset();
    }
    if (at - *silence_ < options_.min_silence_ms * kSamplesPerMs) return;
    if (*silence_ - *start_ > min_speech()) spans_.push_back({*start_, *silence_});
    forget();
  }

  // Whether the current chunk is still to be looked at.
  bool cut_long_span(int64_t at) {
    std::optional<int64_t> end, next;
    if (options_.cut_at_longest_silence && !silences_.empty()) {
      const auto longest = std::max_element(
          silences_.begin(), silences_.end(),
          [](const Silence& a, const Silence& b) { return a.end - a.begin < b.end - b.begin; });
      end = longest->begin;
      next = longest->end;
    } else if (!options_.cut_at_longest_silence && cut_) {
      end = cut_;
      next = resume_;  // none: the silence still lasts
    }
    spans_.push_back({*start_, end.value_or(at)});
    forget();
    start_ = next;
    return end.has_value();
  }

  void forget() {
    start_.reset();
    silence_.reset();
    cut_.reset();
    resume_.reset();
    silences_.clear();
  }

  const VadOptions& options_;
  float end_threshold_;
  double max_speech_;
  std::vector<Span> spans_;
  std::optional<int64_t> start_;    // of the span that is open
  std::optional<int64_t> silence_;  // where the silence that lasts began
  std::optional<int64_t> cut_;      // where the last silence long enough for a cut began,
  std::optional<int64_t> resume_;   // and where speech came back after it
  std::vector<Silence> silences_;   // all such silences of the open span that are over
};

/// Widens each span; neighbours that would touch share the silence between them.
void pad(std::vector<Span>& spans, int64_t padding, int64_t samples) {
  if (spans.empty()) return;
  spans.front().begin = std::max<int64_t>(0, spans.front().begin - padding);
  for (size_t i = 0; i + 1 < spans.size(); ++i) {
    const int64_t silence = spans[i + 1].begin - spans[i].end;
    const int64_t share = silence < 2 * padding ? silence / 2 : padding;
    spans[i].end += share;
    spans[i + 1].begin -= share;
  }
  spans.back().end = std::min(samples, spans.back().end + padding);
}

}  // namespace

std::vector<Span> speech_spans(std::span<const float> probabilities, int64_t samples,
                               const VadOptions& options) {
  SpanFinder finder(options);
  int64_t at = 0;
  for (const float probability : probabilities) {
    finder.add(at, probability);
    at += kChunkSamples;
  }
  std::vector<Span> spans = finder.finish(samples);
  pad(spans, options.speech_pad_ms * kSamplesPerMs, samples);
  return spans;
}

std::vector<Span> without_short_gaps(std::span<const Span> spans, int64_t samples,
                                     const VadOptions& options) {
  const int64_t shortest = std::llround(options.min_gap_s * audio::kSampleRate);
  std::vector<Span> result;
  for (const Span& span : spans) {
    const int64_t heard = result.empty() ? 0 : result.back().end;
    if (span.begin - heard >= shortest) {
      result.push_back(span);
    } else if (result.empty()) {
      result.push_back({0, span.end});
    } else {
      result.back().end = span.end;
    }
  }
  if (!result.empty() && samples - result.back().end < shortest) result.back().end = samples;
  return result;
}

std::vector<Span> intersect(std::span<const Span> a, std::span<const Span> b) {
  std::vector<Span> result;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Span common = {std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)};
    if (common.begin < common.end) result.push_back(common);
    a[i].end < b[j].end ? ++i : ++j;
  }
  return result;
}

}  // namespace sotto::vad
