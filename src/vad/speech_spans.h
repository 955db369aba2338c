// From probabilities of speech to spans of speech.
#ifndef SOTTO_VAD_SPEECH_SPANS_H_
#define SOTTO_VAD_SPEECH_SPANS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "sotto/vad.h"

namespace sotto::vad {

/// Samples [begin, end) of a recording at 16 kHz.
struct Span {
  int64_t begin = 0;
  int64_t end = 0;
  bool operator==(const Span&) const = default;
};

/// `probabilities`: one per 512 samples; `samples`: length of the recording; `options`: checked.
/// The spans are in order and do not overlap. The algorithm is that of get_speech_timestamps() in
/// Silero's package.
std::vector<Span> speech_spans(std::span<const float> probabilities, int64_t samples,
                               const VadOptions& options);

/// The spans with every gap shorter than options.min_gap_s filled, those before the first and after
/// the last one too: what a transcription hears. None stay none.
std::vector<Span> without_short_gaps(std::span<const Span> spans, int64_t samples,
                                     const VadOptions& options);

/// What both lists cover. Both are in order and do not overlap.
std::vector<Span> intersect(std::span<const Span> a, std::span<const Span> b);

}  // namespace sotto::vad

#endif  // SOTTO_VAD_SPEECH_SPANS_H_
