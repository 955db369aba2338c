// Cuts a transcript into subtitle cues by openai-whisper's line rules.
#ifndef SOTTO_TRANSCRIPT_CUES_H_
#define SOTTO_TRANSCRIPT_CUES_H_

#include <string>
#include <string_view>
#include <vector>

#include "sotto/transcript.h"
#include "transcript/writers.h"

namespace sotto::transcript {

struct Cue {
  double start = 0;
  double end = 0;
  std::string text;  ///< One line or more, never empty lines, never "-->"
  std::string speaker;
};

/// How a subtitle format writes a piece of text, before <u> and </u> are put around it.
using Escape = std::string (*)(std::string_view text);

/// Cues of a tidied transcript. A segment with words is laid out word by word and takes its times
/// from them; another is a cue of its own, in one line. Segments without text give none.
std::vector<Cue> make_cues(const Transcript& transcript, const WriterOptions& options,
                           Escape escape);

}  // namespace sotto::transcript

#endif  // SOTTO_TRANSCRIPT_CUES_H_
