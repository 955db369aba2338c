#include "serve/openapi.h"

#include <string>
#include <utility>

namespace sotto::serve {
namespace {

using Json = nlohmann::ordered_json;

Json schema_ref(const std::string& name) {
  return {{"$ref", "#/components/schemas/" + name}};
}

Json content(const std::string& type, Json schema) {
  return {{type, {{"schema", std::move(schema)}}}};
}

Json response(const std::string& what, Json body) {
  return {{"description", what}, {"content", std::move(body)}};
}

/// The failures that a route may answer with.
Json errors(std::initializer_list<int> codes) {
  Json all = Json::object();
  for (const int code : codes) {
    all[std::to_string(code)] = response(std::string(reason_phrase(code)),
                                         content("application/json", schema_ref("Error")));
  }
  return all;
}

Json property(const std::string& type, const std::string& what) {
  return {{"type", type}, {"description", what}};
}

Json number(double minimum, double maximum, const std::string& what) {
  return {{"type", "number"}, {"minimum", minimum}, {"maximum", maximum}, {"description", what}};
}

Json list_of(Json items, const std::string& what) {
  return {{"type", "array"}, {"items", std::move(items)}, {"description", what}};
}

Json one_of_words(std::initializer_list<const char*> words, const std::string& what) {
  Json values = Json::array();
  for (const char* word : words)
    values.push_back(word);
  return {{"type", "string"}, {"enum", std::move(values)}, {"description", what}};
}

Json form_properties() {
  return {
      {"file",
       {{"type", "string"}, {"format", "binary"}, {"description", "Any sound or video file"}}},
      {"model", property("string", "Name of an installed model; default: the server's")},
      {"prompt", property("string", "Text that the recording goes on from, or spellings")},
      {"hotwords", property("string", "Words that are likely")},
      {"temperature", number(0, 1, "0: raised by the server where decoding fails")},
      {"beam_size", {{"type", "integer"}, {"minimum", -1}, {"maximum", 64}}},
      {"best_of", {{"type", "integer"}, {"minimum", -1}, {"maximum", 64}}},
      {"audio_ctx", {{"type", "integer"}, {"minimum", 0}, {"maximum", 1000000}}},
      {"max_len", {{"type", "integer"}, {"minimum", 0}, {"maximum", 100000}}},
      {"no_speech_thold", number(0, 1, "Above: the window is silence")},
      {"request_id", property("string", "Id for progress and cancel")},
      {"language", property("string", "Code or English name; absent, empty or auto: detected")},
  };
}

Json speech_form(bool whisper_cpp) {
  Json properties = form_properties();
  if (whisper_cpp) {
    properties["response_format"] = property("string", "json, text, srt, vtt or verbose_json");
    for (const char* name : {"offset_t", "duration"})
      properties[name] = number(0, 1e9, "Milliseconds");
    for (const char* name : {"translate", "detect_language", "no_timestamps"})
      properties[name] = property("boolean", "");
    properties["temperature_inc"] = number(0, 1, "Step of the fallback");
  } else {
    properties["response_format"] = one_of_words(
        {"json", "text", "srt", "vtt", "verbose_json", "tsv", "csv", "lrc"}, "Form of the answer");
    properties["timestamp_granularities[]"] =
        list_of(one_of_words({"word", "segment"}, ""), "For verbose_json");
    properties["include[]"] = list_of(one_of_words({"logprobs"}, ""), "For json");
    properties["stream"] = property("boolean", "Server-sent events, a segment each");
  }
  return {{"type", "object"}, {"required", {"file"}}, {"properties", std::move(properties)}};
}

Json speech_operation(const std::string& id, const std::string& summary, bool whisper_cpp) {
  Json ok = content("application/json", schema_ref("Transcription"));
  for (const char* type : {"text/plain", "text/vtt", "application/x-subrip", "text/event-stream"})
    ok[type] = {{"schema", {{"type", "string"}}}};
  Json responses = {{"200", response("The transcript", std::move(ok))}};
  responses.update(errors({400, 401, 403, 404, 408, 413, 415, 500, 501, 503, 504}));
  return {
      {"operationId", id},
      {"summary", summary},
      {"requestBody",
       {{"required", true}, {"content", content("multipart/form-data", speech_form(whisper_cpp))}}},
      {"responses", std::move(responses)}};
}

Json get_operation(const std::string& id, const std::string& summary, Json ok_content,
                   std::initializer_list<int> failures) {
  Json responses = {{"200", response(summary, std::move(ok_content))}};
  responses.update(errors(failures));
  return {{"operationId", id}, {"summary", summary}, {"responses", std::move(responses)}};
}

Json with_path_parameter(Json operation, const std::string& name) {
  operation["parameters"] = Json::array(
      {{{"name", name}, {"in", "path"}, {"required", true}, {"schema", {{"type", "string"}}}}});
  return operation;
}

Json object_schema(std::initializer_list<const char*> required, Json properties) {
  Json names = Json::array();
  for (const char* name : required)
    names.push_back(name);
  return {
      {"type", "object"}, {"required", std::move(names)}, {"properties", std::move(properties)}};
}

Json schemas() {
  const Json text = {{"type", "string"}};
  const Json maybe_text = {{"type", {"string", "null"}}};
  const Json value = {{"type", "number"}};
  const Json whole = {{"type", "integer"}};
  const Json error = object_schema(
      {"message", "type", "param", "code"},
      {{"message", text}, {"type", text}, {"param", maybe_text}, {"code", maybe_text}});
  Json model =
      object_schema({"id", "object", "created", "owned_by"}, {{"id", text},
                                                              {"object", text},
                                                              {"created", whole},
                                                              {"owned_by", text},
                                                              {"task", text},
                                                              {"loaded", {{"type", "boolean"}}},
                                                              {"size_bytes", whole}});
  return {
      {"Error", object_schema({"error"}, {{"error", error}})},
      {"Transcription", object_schema({"text"}, {{"text", text}, {"usage", {{"type", "object"}}}})},
      {"Model", std::move(model)},
      {"Models", object_schema({"object", "data"},
                               {{"object", text}, {"data", list_of(schema_ref("Model"), "")}})},
      {"Health", object_schema({"status"}, {{"status", text},
                                            {"device", text},
                                            {"queue_depth", whole},
                                            {"running", whole},
                                            {"version", text}})},
      {"Progress",
       object_schema({"state", "position", "progress"},
                     {{"state", one_of_words({"queued", "running", "done", "error"}, "")},
                      {"position", whole},
                      {"progress", value},
                      {"audio_s", {{"type", {"number", "null"}}}}})},
  };
}

Json load_operation() {
  const Json body = object_schema({"model"}, {{"model", {{"type", "string"}}}});
  Json accepted = content("application/json", body);
  accepted.update(content("multipart/form-data", body));
  Json responses = {{"200", response("Loaded", content("application/text", {{"type", "string"}}))}};
  responses.update(errors({400, 401, 403, 404, 413, 500, 503}));
  return {{"operationId", "load"},
          {"summary", "Load a model and make it the default"},
          {"requestBody", {{"required", true}, {"content", std::move(accepted)}}},
          {"responses", std::move(responses)}};
}

}  // namespace

Json openapi_document(const ServerOptions& options) {
  const std::string& prefix = options.request_path;
  const auto json_of = [](const std::string& name) {
    return content("application/json", schema_ref(name));
  };
  Json paths = Json::object();
  paths[prefix + "/v1/audio/transcriptions"]["post"] =
      speech_operation("createTranscription", "Speech to text", false);
  paths[prefix + "/v1/audio/translations"]["post"] =
      speech_operation("createTranslation", "Speech to English text", false);
  if (prefix + options.inference_path != prefix + "/v1/audio/transcriptions") {
    paths[prefix + options.inference_path]["post"] =
        speech_operation("inference", "Speech to text as whisper.cpp's server has it", true);
  }
  paths[prefix + "/v1/models"]["get"] =
      get_operation("listModels", "Installed models", json_of("Models"), {401, 403});
  paths[prefix + "/v1/models/{model}"]["get"] = with_path_parameter(
      get_operation("showModel", "One model", json_of("Model"), {401, 403, 404}), "model");
  paths[prefix + "/v1/audio/progress/{request_id}"]["get"] = with_path_parameter(
      get_operation("progress", "Where a request stands", json_of("Progress"), {401, 403, 404}),
      "request_id");
  paths[prefix + "/load"]["post"] = load_operation();
  for (const char* path : {"/health", "/live"}) {
    paths[prefix + path]["get"] = get_operation(std::string(path).substr(1), "State of the server",
                                                json_of("Health"), {403, 503});
  }
  paths[prefix + "/metrics"]["get"] =
      get_operation("metrics", "Counters for Prometheus",
                    content("text/plain", {{"type", "string"}}), {401, 403, 501});
  Json security = {{"bearer", {{"type", "http"}, {"scheme", "bearer"}}}};
  return {{"openapi", "3.1.0"},
          {"info", {{"title", "sotto"}, {"version", options.version}}},
          {"paths", std::move(paths)},
          {"components", {{"schemas", schemas()}, {"securitySchemes", std::move(security)}}}};
}

}  // namespace sotto::serve
