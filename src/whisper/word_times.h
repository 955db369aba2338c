// The word times of one window, from its tokens to its segments.
#ifndef SOTTO_WHISPER_WORD_TIMES_H_
#define SOTTO_WHISPER_WORD_TIMES_H_

#include <string>
#include <vector>

#include "sotto/status.h"
#include "sotto/transcribe.h"
#include "whisper/model.h"
#include "whisper/segments.h"
#include "whisper/times.h"

namespace sotto::whisper {

/// The window that word times are wanted for.
struct WordTimesRequest {
  const EncodedWindow& window;
  int positions = 0;  ///< Of the encoder
  FrameSpan span;
  const std::string& language;
  double last_speech_s = 0;  ///< Where speech ended before the window
};

/// Aligns the text with the audio, gives the segments their words and every token its time, and
/// lets the next window begin after the last word unless the model said that nothing follows.
/// Forgets what `decoder` held.
Status add_word_times(const Model& model, Decoder& decoder, const WordTimesRequest& request,
                      const TranscribeOptions& options, WindowSegments& segments);

/// End of the last word, or of the last segment when there are no words; 0 without segments.
double speech_end(const std::vector<Segment>& segments);

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_WORD_TIMES_H_
