#include <cstdint>
#include <cstdlib>
#include <string>

#include "serve/form.h"
#include "serve/http/multipart.h"
#include "serve/speech_request.h"

namespace sotto::serve {
namespace {

/// The form that a body gives when it comes in pieces that end at `cut`.
Result<Form> parse(std::string_view body, size_t cut) {
  FormSink sink;
  MultipartParser parser("b", sink);
  SOTTO_RETURN_IF_ERROR(parser.feed(body.substr(0, cut)));
  SOTTO_RETURN_IF_ERROR(parser.feed(body.substr(cut)));
  SOTTO_RETURN_IF_ERROR(parser.finish());
  return sink.take();
}

}  // namespace
}  // namespace sotto::serve

// A body must give the same form whether it comes at once or in two pieces, and any form must be
// read as a request or refused.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sotto::serve;
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = parse(body, body.size());
  const auto pieces = parse(body, std::min<size_t>(data[0], body.size()));
  if (whole.ok() != pieces.ok()) std::abort();
  if (!whole.ok()) return 0;
  if (whole->fields != pieces->fields) std::abort();
  if (whole->file.has_value() != pieces->file.has_value()) std::abort();
  if (whole->file && whole->file->bytes->size() != pieces->file->bytes->size()) std::abort();
  for (const SpeechApi api : {SpeechApi::kOpenAi, SpeechApi::kWhisperCpp}) {
    FieldReader fields(*whole);
    SpeechRequest request;
    if (api == SpeechApi::kOpenAi) {
      read_openai_request(fields, sotto::Task::kTranscribe, {}, request);
    } else {
      read_whisper_cpp_request(fields, {}, request);
    }
    check_file(*whole, fields);
    static_cast<void>(fields.ignored());
    const auto& temperatures = request.options.temperatures;
    if (temperatures.empty() || temperatures.size() > 101) std::abort();
  }
  return 0;
}
