#include "transcript/tidy.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"

namespace sotto::transcript {
namespace {

double to_seconds(int64_t ms) {
  return static_cast<double>(ms) / 1000;
}

/// Clamps the times of one row of items (segments, or all words) so that they are in order.
class Clock {
 public:
  explicit Clock(int64_t last_ms) : last_ms_(last_ms) {}

  template <typename Item>
  void set(Item& item) {
    previous_start_ = std::clamp(to_ms(item.start), previous_start_, last_ms_);
    item.start = to_seconds(previous_start_);
    item.end = to_seconds(std::clamp(to_ms(item.end), previous_start_, last_ms_));
  }

 private:
  int64_t previous_start_ = 0;
  int64_t last_ms_;
};

template <typename Number>
void make_finite(Number& number) {
  if (!std::isfinite(number)) number = 0;
}

void make_finite(TranscriptStats& stats) {
  for (double* value : {&stats.audio_s, &stats.load_ms, &stats.decode_audio_ms, &stats.mel_ms,
                        &stats.vad_ms, &stats.encode_ms, &stats.generate_ms, &stats.total_ms}) {
    make_finite(*value);
  }
}

void tidy_segment(Segment& segment, Clock& segments, Clock& words, Clock& tokens) {
  segments.set(segment);
  segment.text = utf8_repair(segment.text);
  segment.speaker = one_line(utf8_repair(segment.speaker));
  for (float* value : {&segment.temperature, &segment.avg_logprob, &segment.compression_ratio,
                       &segment.no_speech_prob}) {
    make_finite(*value);
  }
  for (Word& word : segment.words) {
    words.set(word);
    word.text = utf8_repair(word.text);
    make_finite(word.probability);
  }
  for (Token& token : segment.tokens) {
    tokens.set(token);
    token.text = utf8_repair(token.text);
    make_finite(token.probability);
    make_finite(token.logprob);
  }
}

}  // namespace

int64_t to_ms(double seconds) {
  if (!(seconds > 0)) return 0;
  return std::llround(std::min(seconds * 1000, static_cast<double>(kLongestMs)));
}

Transcript tidy(const Transcript& transcript) {
  Transcript tidied = transcript;
  const int64_t duration_ms = to_ms(transcript.duration);
  const int64_t last_ms = duration_ms > 0 ? duration_ms : kLongestMs;
  tidied.duration = to_seconds(duration_ms);
  if (tidied.duration_after_vad) {
    tidied.duration_after_vad = to_seconds(to_ms(*tidied.duration_after_vad));
  }
  tidied.text = utf8_repair(transcript.text);
  tidied.language = utf8_repair(transcript.language);
  tidied.task = utf8_repair(transcript.task);
  make_finite(tidied.language_probability);
  make_finite(tidied.stats);
  Clock segments(last_ms);
  Clock words(last_ms);
  Clock tokens(last_ms);
  for (Segment& segment : tidied.segments)
    tidy_segment(segment, segments, words, tokens);
  Clock dropped(last_ms);
  for (DroppedSpan& span : tidied.dropped) {
    dropped.set(span);
    span.reason = utf8_repair(span.reason);
    span.text = utf8_repair(span.text);
  }
  Clock retried(last_ms);
  for (RetriedSpan& span : tidied.retried) {
    retried.set(span);
    span.reason = utf8_repair(span.reason);
    make_finite(span.temperature);
  }
  return tidied;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";
  const size_t first = text.find_first_not_of(kWhiteSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kWhiteSpace) - first + 1);
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : trim(text)) {
    const bool line_end = c == '\n' || c == '\r';
    if (!line_end) {
      line += c;
    } else if (line.back() != ' ') {  // the first character is none: the text is trimmed
      line += ' ';
    }
  }
  return line;
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  size_t position = 0;
  for (size_t found = text.find(from); found != std::string_view::npos;
       found = text.find(from, position)) {
    out += text.substr(position, found - position);
    out += to;
    position = found + from.size();
  }
  out += text.substr(position);
  return out;
}

}  // namespace sotto::transcript
