#include "wyoming/session.h"

#include <fmt/format.h>

#include <utility>

#include "base/json.h"

namespace sotto::wyoming {
namespace {

/// More sound than this in one utterance ends the connection: half an hour at 16 kHz, mono.
constexpr size_t kMaxUtterance = size_t{64} << 20;

nlohmann::json attribution() {
  return {{"name", "sotto"}, {"url", ""}};
}

std::string string_of(const Event& event, std::string_view name) {
  const std::string* value = json_string(event.data, name);
  return value == nullptr ? std::string() : *value;
}

/// The strings of a list, joined by commas.
void append_terms(const Event& event, std::string_view name, std::string& terms) {
  const nlohmann::json* list = json_member(event.data, name);
  if (list == nullptr || !list->is_array()) return;
  for (const nlohmann::json& term : *list) {
    if (!term.is_string()) continue;
    if (!terms.empty()) terms += ", ";
    terms += term.get_ref<const std::string&>();
  }
}

/// A number of the audio format, in [1, maximum].
Result<int> format_number(const Event& event, std::string_view name, int maximum) {
  const nlohmann::json* value = json_member(event.data, name);
  if (value == nullptr || !value->is_number_integer())
    return invalid_argument(
        fmt::format("{}: \"{}\" is missing or no whole number", event.type, name));
  const auto number = value->get<int64_t>();
  if (number < 1 || number > maximum)
    return invalid_argument(
        fmt::format("{}: \"{}\" is {}, not 1 to {}", event.type, name, number, maximum));
  return static_cast<int>(number);
}

int sample_width(const std::string& raw_format) {
  return raw_format == "u8" ? 1 : raw_format[1] == '1' ? 2 : raw_format[1] == '2' ? 3 : 4;
}

}  // namespace

double Utterance::seconds() const {
  return static_cast<double>(pcm.size()) / (sample_width(raw_format) * channels) / rate;
}

Event describe_answer(const std::string& program_version, const std::vector<ModelEntry>& models) {
  nlohmann::json list = nlohmann::json::array();
  for (const ModelEntry& model : models) {
    list.push_back({{"name", model.name},
                    {"attribution", attribution()},
                    {"installed", true},
                    {"description", model.description},
                    {"version", nullptr},
                    {"languages", model.languages}});
  }
  nlohmann::json program = {{"name", "sotto"},
                            {"attribution", attribution()},
                            {"installed", true},
                            {"description", "Whisper on this machine"},
                            {"version", program_version},
                            {"models", std::move(list)},
                            {"supports_transcript_streaming", false},
                            {"requires_external_vad", true},
                            {"prefers_auto_gain_enabled", true},
                            {"prefers_noise_reduction_enabled", true}};
  Event info;
  info.type = "info";
  for (const char* domain : {"tts", "handle", "intent", "wake", "mic", "snd"})
    info.data[domain] = nlohmann::json::array();
  info.data["asr"] = {std::move(program)};
  return info;
}

Event transcript_event(const std::string& text, const std::string& language) {
  Event event;
  event.type = "transcript";
  event.data["text"] = text;
  if (!language.empty()) event.data["language"] = language;
  return event;
}

Event error_event(const Status& status) {
  Event event;
  event.type = "error";
  event.data = {{"text", status.message()}, {"code", status_code_name(status.code())}};
  return event;
}

Status Session::handle(const Event& event) {
  const Status status = take(event);
  if (!status.ok()) hooks_.send(error_event(status));
  return status;
}

Status Session::take(const Event& event) {
  if (event.type == "describe") {
    hooks_.send(hooks_.describe());
  } else if (event.type == "ping") {
    Event pong{"pong", event.data, {}};
    hooks_.send(pong);
  } else if (event.type == "transcribe") {
    begin_request(event);
  } else if (event.type == "audio-start") {
    return begin_audio(event);
  } else if (event.type == "audio-chunk") {
    return take_audio(event);
  } else if (event.type == "audio-stop") {
    end_audio();
  }
  return {};  // events of other domains are none of this server's business
}

void Session::begin_request(const Event& event) {
  request_ = {};
  in_audio_ = false;
  request_.model = string_of(event, "name");
  request_.language = string_of(event, "language");
  append_terms(event, "transcript_names", request_.hotwords);
  append_terms(event, "transcript_terms", request_.hotwords);
}

Status Session::begin_audio(const Event& event) {
  request_.pcm.clear();
  SOTTO_ASSIGN_OR_RETURN(request_.rate, format_number(event, "rate", 768'000));
  SOTTO_ASSIGN_OR_RETURN(const int width, format_number(event, "width", 4));
  SOTTO_ASSIGN_OR_RETURN(request_.channels, format_number(event, "channels", 64));
  static constexpr const char* kFormats[] = {"u8", "s16le", "s24le", "s32le"};
  request_.raw_format = kFormats[width - 1];
  in_audio_ = true;
  return {};
}

Status Session::take_audio(const Event& event) {
  // Some clients leave audio-start out: every chunk states the format, too.
  if (!in_audio_) SOTTO_RETURN_IF_ERROR(begin_audio(event));
  if (request_.pcm.size() + event.payload.size() > kMaxUtterance) {
    return resource_exhausted(
        fmt::format("the utterance is longer than {} MiB", kMaxUtterance >> 20));
  }
  request_.pcm += event.payload;
  return {};
}

void Session::end_audio() {
  // The next utterance may come without a `transcribe` of its own: the request stays as it was.
  Utterance utterance = request_;
  request_.pcm.clear();
  in_audio_ = false;
  if (utterance.pcm.empty()) {
    hooks_.send(transcript_event("", ""));
  } else {
    hooks_.transcribe(std::move(utterance));
  }
}

}  // namespace sotto::wyoming
