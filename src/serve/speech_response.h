// Transcripts in the shapes of the APIs.
#ifndef SOTTO_SERVE_SPEECH_RESPONSE_H_
#define SOTTO_SERVE_SPEECH_RESPONSE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http/message.h"
#include "serve/job.h"
#include "serve/speech_request.h"

namespace sotto::serve {

/// The whole answer, without the headers about the run.
Response speech_response(const Transcript& transcript, const SpeechRequest& request,
                         const std::string& model);

/// X-STT-Path and the like.
void add_run_headers(const JobResult& result, const std::string& model, Headers& headers);

/// The events of a streamed transcription, each as a whole server-sent event. The deltas joined are
/// the text of the last event, byte for byte.
class SpeechEvents {
 public:
  explicit SpeechEvents(const SpeechRequest& request) : request_(request) {}
  /// Known once the recording is decoded; cues end before it.
  void set_duration(double seconds) { duration_ = seconds; }
  std::string segment(const Segment& segment);
  std::string done(const Transcript& transcript);

 private:
  std::string cue(const Segment& segment);
  std::string delta(std::string text, const Segment& segment);

  const SpeechRequest& request_;
  double duration_ = 0;
  int cues_ = 0;
  std::string text_;      ///< All deltas so far
  std::string held_;      ///< White space that goes only before more text
  std::string logprobs_;  ///< JSON objects joined by commas
};

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_SPEECH_RESPONSE_H_
