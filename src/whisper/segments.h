// From a window's tokens to segments and to where the next window begins.
#ifndef SOTTO_WHISPER_SEGMENTS_H_
#define SOTTO_WHISPER_SEGMENTS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sotto/transcript.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/whisper_tokens.h"
#include "whisper/fallback.h"
#include "whisper/times.h"

namespace sotto::whisper {

/// What openai/whisper's rules make of a window.
struct WindowSegments {
  std::vector<Segment>
      segments;  ///< With text; without ids and word times. May be empty in time or text.
  int64_t next =
      0;  ///< Frame at which the next window begins; always beyond the window's beginning
  bool ends_with_single_timestamp =
      false;  ///< The model says: nothing is spoken after that timestamp
};

/// Splits at pairs of timestamps. Text after the last pair is left to the next window, which begins
/// at that pair; unless the tokens end with a single timestamp or hold no pair: then the window is
/// used up whole. `span`: what the window holds of the recording, more than 0 frames; the encoder
/// saw padding after it.
WindowSegments split_segments(const WindowText& decoded, const FrameSpan& span,
                              const tokenizer::Tokenizer& tokenizer,
                              const tokenizer::WhisperTokens& tokens);

/// Makes the texts of consecutive segments valid UTF-8: bytes of a character that a border cut in
/// two all go to the segment where it begins; what never becomes a character is dropped at a
/// segment's end and U+FFFD elsewhere.
void join_split_characters(std::vector<Segment>& segments);

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_SEGMENTS_H_
