#include "cli/remote_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <utility>

#include "base/json.h"
#include "cli/http_client.h"
#include "cli/run_file.h"
#include "cli/terminal.h"
#include "sotto/models.h"
#include "worker/messages.h"

namespace sotto::cli {
namespace {

using nlohmann::json;

constexpr int kProbeTimeoutMs = 2000;

double number(const json& object, std::string_view name) {
  const json* member = json_member(object, name);
  return member != nullptr && member->is_number() ? member->get<double>() : 0;
}

std::string text(const json& object, std::string_view name) {
  const std::string* member = json_string(object, name);
  return member == nullptr ? std::string() : *member;
}

Segment read_segment(const json& object) {
  Segment segment;
  segment.id = static_cast<int>(number(object, "id"));
  segment.seek = static_cast<int>(number(object, "seek"));
  segment.start = number(object, "start");
  segment.end = number(object, "end");
  segment.text = text(object, "text");
  segment.temperature = static_cast<float>(number(object, "temperature"));
  segment.avg_logprob = static_cast<float>(number(object, "avg_logprob"));
  segment.compression_ratio = static_cast<float>(number(object, "compression_ratio"));
  segment.no_speech_prob = static_cast<float>(number(object, "no_speech_prob"));
  if (const json* words = json_member(object, "words"); words != nullptr && words->is_array()) {
    for (const json& word : *words) {
      segment.words.push_back({text(word, "word"), number(word, "start"), number(word, "end"),
                               static_cast<float>(number(word, "probability"))});
    }
  }
  return segment;
}

Status answer_status(const HttpAnswer& answer, const std::string& url) {
  const Result<json> body = parse_json(answer.body, url);
  const json* error = body.ok() ? json_member(*body, "error") : nullptr;
  std::string message = error != nullptr && error->is_object() ? text(*error, "message") : "";
  if (message.empty()) message = fmt::format("it answered {}", answer.status);
  message = fmt::format("{}: {}", printable(url), printable(message));
  switch (answer.status) {
    case 400:
      return invalid_argument(message);
    case 401:
      return {StatusCode::kPermissionDenied, message + "\nset SOTTO_API_KEY to its key"};
    case 404:
      return not_found(message);
    case 415:
      return corrupt(message);
    default:
      return unavailable(message);
  }
}

/// The options that a form can carry, as the flags' defaults; what is left is steered only here.
TranscribeOptions without_sendable(TranscribeOptions options, const TranscribeOptions& defaults) {
  options.task = defaults.task;
  options.language = defaults.language;
  options.languages = defaults.languages;
  options.initial_prompt = defaults.initial_prompt;
  options.hotwords = defaults.hotwords;
  options.beam_size = defaults.beam_size;
  options.best_of = defaults.best_of;
  options.word_timestamps = defaults.word_timestamps;
  options.without_timestamps = defaults.without_timestamps;
  return options;
}

template <typename T>
std::string bytes_of(const T& value) {
  worker::WireWriter writer;
  writer(value);
  return writer.take();
}

/// Whether a server can do what the command line asks for.
bool is_sendable(const TranscribeArgs& args) {
  TranscribeArgs plain;
  const std::string input = "-";
  if (!parse_transcribe_args({&input, 1}, plain).ok()) return false;
  const bool needs_tokens =
      args.display.special_tokens || args.display.colours || args.display.confidence ||
      std::any_of(args.outputs.begin(), args.outputs.end(), [](const OutputRequest& output) {
        return output.format == transcript::Format::kJsonFull ||
               output.format == transcript::Format::kJson;
      });
  return !needs_tokens && !args.stats && !args.detect_only && args.raw_format.empty() &&
         args.model_dir.empty() && bytes_of(args.load) == bytes_of(plain.load) &&
         bytes_of(without_sendable(args.options, plain.options)) ==
             bytes_of(without_sendable(plain.options, plain.options));
}

class RemoteModel final : public SpeechModel {
 public:
  RemoteModel(std::string url, std::string model, bool streams)
      : url_(std::move(url)), model_(std::move(model)), streams_(streams) {}

  Result<Transcript> transcribe(const AudioSource& source, const TranscribeOptions& options,
                                const TranscribeCallbacks& callbacks) override {
    HttpRequest request;
    request.url = url_ + (options.task == Task::kTranslate ? "/v1/audio/translations"
                                                           : "/v1/audio/transcriptions");
    request.fields = fields(options);
    request.should_stop = callbacks.should_stop;
    if (source.path == "-") {
      request.file_bytes.assign(std::istreambuf_iterator<char>(std::cin), {});
      if (request.file_bytes.empty()) return corrupt("there is nothing to read");
    } else {
      request.file_path = source.path;
    }
    Reader reader{callbacks, {}, {}, {}, false};
    if (streams_) request.on_data = [&reader](std::string_view piece) { reader.feed(piece); };
    SOTTO_ASSIGN_OR_RETURN(const HttpAnswer answer, send_http(request));
    if (answer.status != 200) return answer_status(answer, url_);
    SOTTO_RETURN_IF_ERROR(reader.status);
    if (streams_ && !reader.done) return unavailable(url_ + ": the answer broke off");
    if (!streams_) SOTTO_RETURN_IF_ERROR(reader.take_document(answer.body));
    if (options.task == Task::kTranslate) reader.transcript.task = "translate";
    return std::move(reader.transcript);
  }

  [[nodiscard]] bool multilingual() const override { return true; }
  [[nodiscard]] ModelSizes sizes() const override { return {}; }
  [[nodiscard]] std::string description() const override { return url_; }

 private:
  /// Collects the answer.
  struct Reader {
    const TranscribeCallbacks& callbacks;
    Transcript transcript;
    Status status;
    std::string pending;
    bool done;

    void feed(std::string_view piece) {
      pending += piece;
      for (size_t end = 0; (end = pending.find("\n\n")) != std::string::npos;) {
        const std::string event = pending.substr(0, end);
        pending.erase(0, end + 2);
        constexpr std::string_view kData = "data: ";
        if (event.starts_with(kData)) take_event(event.substr(kData.size()));
      }
    }

    void take_event(const std::string& data) {
      const Result<json> event = parse_json(data, "event of the server");
      if (!event.ok()) {
        status = event.status();
        return;
      }
      if (const json* error = json_member(*event, "error")) {
        status = unavailable("the server: " + printable(text(*error, "message")));
      } else if (const json* segment = json_member(*event, "segment")) {
        add(read_segment(*segment));
      } else if (text(*event, "type") == "transcript.text.done") {
        finish(*event);
      }
    }

    void add(Segment segment) {
      if (transcript.segments.empty() && callbacks.on_audio) callbacks.on_audio(0);
      transcript.segments.push_back(std::move(segment));
      if (callbacks.on_segment) callbacks.on_segment(transcript.segments.back());
    }

    void finish(const json& object) {
      if (transcript.segments.empty() && callbacks.on_audio) callbacks.on_audio(0);
      done = true;
      transcript.text = text(object, "text");
      transcript.duration = number(object, "duration");
      transcript.language = text(object, "language_code");
      if (transcript.language.empty()) transcript.language = text(object, "language");
      const Result<std::string> code = parse_language(transcript.language);
      if (code.ok()) transcript.language = *code;
      transcript.language_probability = static_cast<float>(number(object, "language_probability"));
      transcript.stats.audio_s = transcript.duration;
    }

    Status take_document(const std::string& body) {
      SOTTO_ASSIGN_OR_RETURN(const json document, parse_json(body, "the server's answer"));
      const json* segments = json_member(document, "segments");
      if (segments != nullptr && segments->is_array())
        for (const json& segment : *segments)
          add(read_segment(segment));
      finish(document);
      return {};
    }
  };

  [[nodiscard]] std::vector<std::pair<std::string, std::string>> fields(
      const TranscribeOptions& options) const {
    const TranscribeOptions defaults;
    std::vector<std::pair<std::string, std::string>> fields;
    const auto add = [&fields](const char* name, const std::string& value) {
      if (!value.empty()) fields.emplace_back(name, value);
    };
    add("model", model_.empty() ? "whisper-1" : model_);
    add("language", options.language);
    for (const std::string& language : options.languages)
      add("languages[]", language);
    add("prompt", options.initial_prompt);
    add("hotwords", options.hotwords);
    add("beam_size", std::to_string(std::max(1, options.beam_size)));
    add("best_of", std::to_string(std::max(1, options.best_of)));
    if (options.without_timestamps) add("without_timestamps", "true");
    if (streams_) {
      add("stream", "true");
      add("timestamp_granularities[]", "word");
    } else {
      add("response_format", "verbose_json");
      add("timestamp_granularities[]", "segment");
    }
    return fields;
  }

  std::string url_, model_;
  bool streams_;  ///< The server is sotto, whose streams carry whole segments
};

/// What /health of sotto tells; nothing for another program or no answer.
std::optional<json> sotto_health(const std::string& url) {
  HttpRequest probe;
  probe.url = url + "/health";
  probe.timeout_ms = kProbeTimeoutMs;
  const Result<HttpAnswer> answer = send_http(probe);
  if (!answer.ok() || answer->status != 200) return std::nullopt;
  Result<json> health = parse_json(answer->body, url);
  if (!health.ok() || json_member(*health, "default_model") == nullptr) return std::nullopt;
  return std::move(*health);
}

/// A running server serves only when it would use the model that would be used here.
bool has_model(const json& health, const std::string& asked) {
  const std::string offered = text(health, "default_model");
  if (!asked.empty()) return asked == offered;
  const Result<ModelStore> store = ModelStore::open_default();
  if (!store.ok()) return false;
  const Result<ModelInfo> best = store->best(ModelKind::kWhisper);
  return !best.ok() || best->name == offered;
}

}  // namespace

Result<std::unique_ptr<SpeechModel>> choose_remote_model(const TranscribeArgs& args) {
  std::unique_ptr<SpeechModel> none;
  if (args.local) return none;
  if (!args.server.empty()) {
    if (!is_sendable(args)) {
      return invalid_argument(
          "--server: the other flags ask for what a server cannot be told\n"
          "leave them out, or transcribe here (--local)");
    }
    std::string url = args.server;
    while (url.ends_with('/'))
      url.pop_back();
    if (url.find("://") == std::string::npos) url = "http://" + url;
    const bool is_sotto = sotto_health(url).has_value();
    return std::unique_ptr<SpeechModel>(new RemoteModel(url, args.model, is_sotto));
  }
  if (!is_sendable(args)) return none;
  for (const RunningServer& server : running_servers()) {
    const std::optional<json> health = sotto_health(server.url);
    if (health && text(*health, "status") == "ok" && has_model(*health, args.model))
      return std::unique_ptr<SpeechModel>(new RemoteModel(server.url, "", /*streams=*/true));
  }
  return none;
}

}  // namespace sotto::cli
