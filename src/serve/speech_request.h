// What a request for speech-to-text asks for, in the terms of each API that has one.
#ifndef SOTTO_SERVE_SPEECH_REQUEST_H_
#define SOTTO_SERVE_SPEECH_REQUEST_H_

#include <string>

#include "serve/form.h"
#include "sotto/transcribe.h"

namespace sotto::serve {

enum class SpeechFormat {
  kJson,
  kText,
  kSrt,
  kVtt,
  kVerboseJson,
  kTsv,
  kCsv,
  kLrc,
};

/// Whose rules and shapes count.
enum class SpeechApi {
  kOpenAi,      ///< /v1/audio/transcriptions and /v1/audio/translations
  kWhisperCpp,  ///< /inference of whisper.cpp's server
};

struct SpeechRequest {
  SpeechApi api = SpeechApi::kOpenAi;
  std::string model;  ///< As the client spelled it; empty: the default
  std::string id;     ///< Field request_id; empty: none
  SpeechFormat format = SpeechFormat::kJson;
  bool stream = false;
  bool logprobs = false;
  bool words = false;    ///< verbose_json: the list of words; stream: segments with words
  bool segments = true;  ///< verbose_json: the list of segments
  int max_segment_length = 0;
  bool language_probabilities = true;  ///< whisper.cpp's verbose_json
  TranscribeOptions options;
};

/// Defaults of the server, from its command line.
struct SpeechDefaults {
  std::string language;  ///< Whisper code; empty: detect
  int beam_size = 5, best_of = 5;
};

/// Fills `request` from the fields; faults are kept in `fields`. Sources of names, defaults and
/// rules: https://github.com/openai/openai-openapi, whisper.cpp's examples/server.
void read_openai_request(FieldReader& fields, sotto::Task task, const SpeechDefaults& defaults,
                         SpeechRequest& request);
void read_whisper_cpp_request(FieldReader& fields, const SpeechDefaults& defaults,
                              SpeechRequest& request);

/// Faults that need the file: none, or an empty one.
void check_file(const Form& form, FieldReader& fields);

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_SPEECH_REQUEST_H_
