#include "whisper/segments.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"

namespace sotto::whisper {
namespace {

class Splitter {
 public:
  Splitter(const WindowText& decoded, const FrameSpan& span, const tokenizer::Tokenizer& tokenizer,
           const tokenizer::WhisperTokens& tokens)
      : decoded_(decoded),
        ids_(decoded.hypothesis.tokens),
        span_(span),
        tokenizer_(tokenizer),
        tokens_(tokens) {}

  WindowSegments run() {
    WindowSegments result;
    const size_t count = ids_.size();
    result.ends_with_single_timestamp =
        count >= 2 && !is_timestamp(count - 2) && is_timestamp(count - 1);
    std::vector<size_t> ends = pair_borders();
    const int64_t whole = span_.end();
    if (ends.empty()) {
      result.segments.push_back(
          make_segment(0, count, span_.start_s(), span_.start_s() + unpaired_duration()));
      result.next = whole;
      return result;
    }
    if (result.ends_with_single_timestamp) ends.push_back(count);
    size_t begin = 0;
    for (const size_t end : ends) {
      result.segments.push_back(make_segment(begin, end, time_of(begin), time_of(end - 1)));
      begin = end;
    }
    const int64_t spoken = int64_t{offset_of(begin - 1)} * kFramesPerPosition;
    // A pair at the very start, or beyond the window's audio, must not stop or derail the
    // recording.
    const bool usable = !result.ends_with_single_timestamp && spoken > 0 && spoken < span_.frames;
    result.next = usable ? span_.begin + spoken : whole;
    return result;
  }

 private:
  [[nodiscard]] bool is_timestamp(size_t i) const { return tokens_.is_timestamp(ids_[i]); }
  /// Timestamps after the window's start. A slice may begin with text when it was given as prefix
  /// without a timestamp.
  [[nodiscard]] int offset_of(size_t i) const {
    return std::max(0, ids_[i] - tokens_.timestamp_begin);
  }
  [[nodiscard]] double time_of(size_t i) const {
    return span_.start_s() + offset_of(i) * kSecondsPerPosition;
  }

  /// Indices of timestamps that follow a timestamp.
  [[nodiscard]] std::vector<size_t> pair_borders() const {
    std::vector<size_t> borders;
    for (size_t i = 1; i < ids_.size(); ++i) {
      if (is_timestamp(i - 1) && is_timestamp(i)) borders.push_back(i);
    }
    return borders;
  }

  /// Up to the last timestamp if there is one after the start, else all of the window.
  [[nodiscard]] double unpaired_duration() const {
    for (size_t i = ids_.size(); i-- > 0;) {
      if (!is_timestamp(i)) continue;
      if (offset_of(i) > 0) return offset_of(i) * kSecondsPerPosition;
      break;
    }
    return static_cast<double>(span_.frames) * kSecondsPerFrame;
  }

  [[nodiscard]] Segment make_segment(size_t begin, size_t end, double start_s, double end_s) const {
    Segment segment;
    segment.seek = static_cast<int>(span_.begin);
    segment.start = start_s;
    segment.end = end_s;
    segment.temperature = decoded_.temperature;
    segment.avg_logprob = decoded_.avg_logprob;
    segment.compression_ratio = decoded_.compression_ratio;
    segment.no_speech_prob = decoded_.no_speech_prob;
    for (size_t i = begin; i < end; ++i)
      segment.tokens.push_back(make_token(i, start_s, end_s));
    segment.text = tokenizer_.decode(ids_.subspan(begin, end - begin));
    return segment;
  }

  [[nodiscard]] Token make_token(size_t i, double start_s, double end_s) const {
    Token token;
    token.id = ids_[i];
    token.start = start_s;
    token.end = end_s;
    token.logprob = decoded_.hypothesis.logprobs[i];
    token.probability = std::exp(token.logprob);
    if (is_timestamp(i)) {
      token.text = "[_TT_" + std::to_string(offset_of(i)) + "]";
    } else {
      token.text = tokenizer_.token_bytes(ids_[i]);
    }
    return token;
  }

  const WindowText& decoded_;
  std::span<const int> ids_;
  const FrameSpan& span_;
  const tokenizer::Tokenizer& tokenizer_;
  const tokenizer::WhisperTokens& tokens_;
};

}  // namespace

WindowSegments split_segments(const WindowText& decoded, const FrameSpan& span,
                              const tokenizer::Tokenizer& tokenizer,
                              const tokenizer::WhisperTokens& tokens) {
  return Splitter(decoded, span, tokenizer, tokens).run();
}

void join_split_characters(std::vector<Segment>& segments) {
  for (size_t i = 0; i < segments.size(); ++i) {
    std::string& text = segments[i].text;
    const size_t complete = utf8_complete_prefix(text);
    if (complete < text.size()) {
      std::string joined = text.substr(complete);
      const size_t begun = joined.size();
      if (i + 1 < segments.size()) joined += segments[i + 1].text;
      const Utf8Char character = utf8_decode(joined, 0);
      text.resize(complete);
      if (character.valid) {
        text += joined.substr(0, character.length);
        segments[i + 1].text.erase(0, character.length - begun);
      }
    }
    text = utf8_repair(text);
  }
}

}  // namespace sotto::whisper
