#include "serve/speech_request.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/languages.h"
#include "serve/http/message.h"

namespace sotto::serve {
namespace {

constexpr double kMaxMs = 1e9;
constexpr float kSmallestStep = 0.01f;  ///< Of temperatures: at most 100 tries of a window
constexpr int kMaxPositions = 1500;     ///< Of any Whisper encoder

std::optional<SpeechFormat> parse_format(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, SpeechFormat>, 8> kFormats = {{
      {"json", SpeechFormat::kJson},
      {"text", SpeechFormat::kText},
      {"srt", SpeechFormat::kSrt},
      {"vtt", SpeechFormat::kVtt},
      {"verbose_json", SpeechFormat::kVerboseJson},
      {"tsv", SpeechFormat::kTsv},
      {"csv", SpeechFormat::kCsv},
      {"lrc", SpeechFormat::kLrc},
  }};
  for (const auto& [known, format] : kFormats)
    if (known == name) return format;
  return std::nullopt;
}

/// "" and "auto" mean: detect.
std::string read_language(FieldReader& fields, const std::string& name, const std::string& value) {
  if (value.empty() || equals_ignoring_case(value, "auto")) return {};
  std::string code = language_code(value);
  if (code.empty()) {
    fields.fail(bad_request(
        "invalid_value", "unknown language '" + value + "'; use a code such as en or de, or auto",
        name));
  }
  return code;
}

void read_language_fields(FieldReader& fields, const SpeechDefaults& defaults,
                          TranscribeOptions& options) {
  options.language = fields.has("language")
                         ? read_language(fields, "language", fields.text("language"))
                         : defaults.language;
  for (const std::string& value : fields.list("languages")) {
    const std::string code = read_language(fields, "languages", value);
    if (!code.empty()) options.languages.push_back(code);
  }
  if (!options.languages.empty() && !fields.has("language")) options.language.clear();
}

/// Those that both APIs and common clients name alike.
void read_common_fields(FieldReader& fields, const SpeechDefaults& defaults,
                        SpeechRequest& request) {
  TranscribeOptions& options = request.options;
  request.id = fields.text("request_id");
  options.initial_prompt = fields.text("prompt");
  options.carry_initial_prompt = fields.flag("carry_initial_prompt", false);
  options.hotwords = fields.text("hotwords");
  for (const std::string& keyword : fields.list("keywords"))
    options.hotwords += (options.hotwords.empty() ? "" : ", ") + keyword;
  // -1 is whisper.cpp's word for its default.
  const int beam_size = fields.integer("beam_size", -1, 64).value_or(-1);
  options.beam_size = beam_size > 0 ? beam_size : defaults.beam_size;
  const int best_of = fields.integer("best_of", -1, 64).value_or(-1);
  options.best_of = best_of > 0 ? best_of : defaults.best_of;
  // A hint: what is longer than the encoder is all of it.
  options.audio_ctx =
      std::min(fields.integer("audio_ctx", 0, 1'000'000).value_or(0), kMaxPositions);
  request.max_segment_length = fields.integer("max_len", 0, 100'000).value_or(0);
  fields.accept("split_on_word");  // Segments are cut between words whatever is asked
  if (const auto threshold = fields.number("no_speech_thold", 0, 1))
    options.no_speech_threshold = static_cast<float>(*threshold);
  if (request.max_segment_length > 0) options.word_timestamps = true;
}

void refuse_what_is_not_built(FieldReader& fields, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (fields.has(name) && !fields.list(name).empty())
      fields.fail(not_supported("speakers cannot be told apart yet", std::string(name)));
  }
}

void read_granularities(FieldReader& fields, SpeechRequest& request) {
  const std::vector<std::string> granularities = fields.list("timestamp_granularities");
  if (granularities.empty()) return;
  request.segments = request.words = false;
  for (const std::string& value : granularities) {
    if (value == "word") {
      request.words = true;
    } else if (value == "segment") {
      request.segments = true;
    } else {
      fields.fail(bad_request("invalid_value", "'" + value + "' is not word or segment",
                              "timestamp_granularities"));
    }
  }
}

void read_format(FieldReader& fields, SpeechRequest& request) {
  const std::string name = fields.text("response_format");
  if (name.empty()) return;
  if (name == "diarized_json") {
    fields.fail(not_supported("speakers cannot be told apart yet", "response_format"));
    return;
  }
  const std::optional<SpeechFormat> format = parse_format(name);
  if (!format) {
    fields.fail(
        bad_request("invalid_value",
                    "'" + name + "' is not json, text, srt, vtt, verbose_json, tsv, csv or lrc",
                    "response_format"));
  }
  request.format = format.value_or(SpeechFormat::kJson);
}

void check_stream(FieldReader& fields, const SpeechRequest& request) {
  if (!request.stream) return;
  switch (request.format) {
    case SpeechFormat::kJson:
    case SpeechFormat::kText:
    case SpeechFormat::kSrt:
    case SpeechFormat::kVtt:
      return;
    default:
      fields.fail(bad_request("unsupported_combination",
                              "only json, text, srt and vtt can be streamed", "response_format"));
  }
}

/// OpenAI's server_vad object. Its silence and padding are those of turns in a talk.
void read_server_vad(FieldReader& fields, const nlohmann::json& strategy, VadOptions& vad) {
  const auto number = [&](const char* name, double maximum) -> std::optional<double> {
    if (!strategy.contains(name)) return std::nullopt;
    const nlohmann::json& value = strategy[name];
    // Members of a form are text, members of a JSON object numbers.
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    char* end = nullptr;
    const double parsed = std::strtod(text.c_str(), &end);
    if (!text.empty() && *end == '\0' && parsed >= 0 && parsed <= maximum) return parsed;
    fields.fail(
        bad_request("invalid_value", std::string(name) + " is out of range", "chunking_strategy"));
    return std::nullopt;
  };
  constexpr double kMaxVadMs = 60'000;
  if (const auto value = number("threshold", 1)) vad.threshold = static_cast<float>(*value);
  if (const auto value = number("silence_duration_ms", kMaxVadMs))
    vad.min_silence_ms = static_cast<int>(*value);
  if (const auto value = number("prefix_padding_ms", kMaxVadMs))
    vad.speech_pad_ms = static_cast<int>(*value);
}

/// Where speech is looked for before it is transcribed: where the detector is installed, unless the
/// client does not want it.
void read_vad(FieldReader& fields, TranscribeOptions& options) {
  if (!fields.flag("vad_filter", true)) options.vad_mode = VadMode::kOff;
  const nlohmann::json strategy = fields.object("chunking_strategy");
  if (strategy.is_null() || (strategy.is_string() && strategy == "auto")) return;
  if (strategy.is_object() && strategy.contains("type") && strategy["type"] == "server_vad") {
    read_server_vad(fields, strategy, options.vad);
    return;
  }
  fields.fail(bad_request("invalid_value", "it must be auto or an object of type server_vad",
                          "chunking_strategy"));
}

/// whisper.cpp's vad fields. There, the detector is off unless asked for.
void read_whisper_cpp_vad(FieldReader& fields, TranscribeOptions& options) {
  if (fields.has("vad"))
    options.vad_mode = fields.flag("vad", false) ? VadMode::kAuto : VadMode::kOff;
  VadOptions& vad = options.vad;
  if (const auto value = fields.number("vad_threshold", 0, 1))
    vad.threshold = static_cast<float>(*value);
  vad.min_speech_ms =
      fields.integer("vad_min_speech_duration_ms", 0, 1'000'000).value_or(vad.min_speech_ms);
  vad.min_silence_ms =
      fields.integer("vad_min_silence_duration_ms", 0, 1'000'000).value_or(vad.min_silence_ms);
  vad.speech_pad_ms = fields.integer("vad_speech_pad_ms", 0, 1'000'000).value_or(vad.speech_pad_ms);
  if (const auto value = fields.number("vad_max_speech_duration_s", 0, 1e9); value && *value > 0)
    vad.max_speech_s = *value;
  if (const auto value = fields.number("vad_samples_overlap", 0, 60))
    vad.samples_overlap_s = *value;
}

}  // namespace

void check_file(const Form& form, FieldReader& fields) {
  if (!form.file) {
    fields.fail(bad_request("missing_field", "the form has no field 'file'", "file"));
  } else if (form.file->bytes->size() == 0) {
    fields.fail(bad_request("missing_field", "the file is empty", "file"));
  }
}

void read_openai_request(FieldReader& fields, sotto::Task task, const SpeechDefaults& defaults,
                         SpeechRequest& request) {
  request.api = SpeechApi::kOpenAi;
  TranscribeOptions& options = request.options;
  request.model = fields.text("model");
  read_common_fields(fields, defaults, request);
  read_language_fields(fields, defaults, options);
  options.task = task;
  const std::string task_name = fields.text("task");
  if (task_name == "translate") options.task = sotto::Task::kTranslate;
  if (!task_name.empty() && task_name != "translate" && task_name != "transcribe") {
    fields.fail(
        bad_request("invalid_value", "'" + task_name + "' is not transcribe or translate", "task"));
  }
  read_format(fields, request);
  const double temperature = fields.number("temperature", 0, 1).value_or(0);
  // At 0 the server itself goes to higher ones where the log-probabilities ask for it.
  if (temperature > 0) options.temperatures = {static_cast<float>(temperature)};
  for (const std::string& value : fields.list("include")) {
    if (value != "logprobs") {
      fields.fail(bad_request("invalid_value", "'" + value + "' is not logprobs", "include"));
    } else if (request.format != SpeechFormat::kJson) {
      fields.fail(
          bad_request("unsupported_combination", "logprobs come with json only", "include"));
    }
    request.logprobs = true;
  }
  read_granularities(fields, request);
  options.without_timestamps = fields.flag("without_timestamps", false);
  const bool is_verbose = request.format == SpeechFormat::kVerboseJson;
  request.stream =
      fields.has("stream") && fields.text("stream") != "null" && fields.flag("stream", false);
  if (request.words && (is_verbose || request.stream)) options.word_timestamps = true;
  check_stream(fields, request);
  read_vad(fields, options);
  refuse_what_is_not_built(fields, {"known_speaker_names", "known_speaker_references"});
}

void read_whisper_cpp_request(FieldReader& fields, const SpeechDefaults& defaults,
                              SpeechRequest& request) {
  request.api = SpeechApi::kWhisperCpp;
  TranscribeOptions& options = request.options;
  request.model = fields.text("model");
  read_common_fields(fields, defaults, request);
  read_language_fields(fields, defaults, options);
  if (fields.flag("detect_language", false)) options.language.clear();
  if (fields.flag("translate", false)) options.task = sotto::Task::kTranslate;
  request.format = parse_format(fields.text("response_format")).value_or(SpeechFormat::kJson);
  const double offset_s = fields.number("offset_t", 0, kMaxMs).value_or(0) / 1000;
  const double length_s = fields.number("duration", 0, kMaxMs).value_or(0) / 1000;
  if (offset_s > 0 || length_s > 0)
    options.clips = {{offset_s, length_s > 0 ? offset_s + length_s : -1}};
  options.max_context_tokens = fields.integer("max_context", -1, 100'000).value_or(-1);
  if (const auto value = fields.number("entropy_thold", 0, 1e6); value && *value != 2.4)
    options.entropy_threshold = static_cast<float>(*value);
  if (const auto value = fields.number("logprob_thold", -1e6, 0))
    options.logprob_threshold = static_cast<float>(*value);
  options.without_timestamps = fields.flag("no_timestamps", false);
  const auto first = static_cast<float>(fields.number("temperature", 0, 1).value_or(0));
  const auto wanted = static_cast<float>(fields.number("temperature_inc", 0, 1).value_or(0.2));
  const float step = wanted > 0 ? std::max(wanted, kSmallestStep) : 0;
  options.temperatures = {first};
  for (float t = first + step; step > 0 && t < 1.0f + 1e-6f; t += step)
    options.temperatures.push_back(t);
  request.language_probabilities = !fields.flag("no_language_probabilities", false);
  for (const char* name : {"suppress_non_speech", "suppress_nst"}) {
    if (fields.has(name) && !fields.flag(name, true)) options.suppress_tokens.clear();
  }
  for (const char* name : {"diarize", "tinydiarize"}) {
    if (fields.flag(name, false))
      fields.fail(not_supported("speakers cannot be told apart yet", name));
  }
  if (request.format == SpeechFormat::kVerboseJson) options.word_timestamps = true;
  read_whisper_cpp_vad(fields, options);
  for (const char* name : {"offset_n", "word_thold", "debug_mode", "token_timestamps"})
    fields.accept(name);
}

}  // namespace sotto::serve
