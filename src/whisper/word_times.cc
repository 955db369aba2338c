#include "whisper/word_times.h"

#include <algorithm>
#include <cmath>

#include "whisper/align.h"
#include "whisper/words.h"

namespace sotto::whisper {
namespace {

std::vector<int> text_tokens(const std::vector<Segment>& segments, int eot) {
  std::vector<int> ids;
  for (const Segment& segment : segments) {
    for (const Token& token : segment.tokens) {
      if (token.id < eot) ids.push_back(token.id);
    }
  }
  return ids;
}

/// The next window begins at `seconds`, but never where this one began.
int64_t window_after(double seconds, const FrameSpan& span) {
  const int64_t next = std::llround(seconds * kFramesPerSecond);
  return next > span.begin ? std::min(next, span.end()) : span.end();
}

}  // namespace

double speech_end(const std::vector<Segment>& segments) {
  for (size_t i = segments.size(); i-- > 0;) {
    if (!segments[i].words.empty()) return segments[i].words.back().end;
  }
  return segments.empty() ? 0.0 : segments.back().end;
}

Status add_word_times(const Model& model, Decoder& decoder, const WordTimesRequest& request,
                      const TranscribeOptions& options, WindowSegments& segments) {
  const int eot = model.tokens().eot;
  const FrameSpan& span = request.span;
  const std::vector<int> text = text_tokens(segments.segments, eot);
  if (text.empty() || span.frames < kFramesPerPosition) return {};
  SOTTO_ASSIGN_OR_RETURN(const TokenAlignment alignment,
                         align_tokens(model, decoder, request.window, request.language,
                                      options.task, text, request.positions, span.frames));
  std::vector<TimedWord> words = group_words(text, model.tokenizer(), request.language);
  time_words(alignment, words);
  const WordDurations usual = usual_durations(words);
  shorten_at_sentence_ends(words, usual);
  merge_punctuation(words, options.prepend_punctuations, options.append_punctuations);
  assign_words(words, usual, span.start_s(), request.last_speech_s, eot, segments.segments);
  assign_token_times(alignment, words, span.start_s(), eot, model.tokens().timestamp_begin,
                     segments.segments);
  const double end = speech_end(segments.segments);
  if (!segments.ends_with_single_timestamp && end > span.start_s())
    segments.next = window_after(end, span);
  return {};
}

}  // namespace sotto::whisper
