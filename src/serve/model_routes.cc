// Which models there are, and whisper.cpp's /load.
#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/languages.h"
#include "serve/app.h"
#include "serve/http/mailbox.h"

namespace sotto::serve {
namespace {

using Json = nlohmann::ordered_json;

/// Seconds since 1970 of "2026-01-02T03:04:05Z"; 0 for what is no such time.
int64_t unix_time(const std::string& rfc3339) {
  std::tm time{};
  if (::strptime(rfc3339.c_str(), "%Y-%m-%dT%H:%M:%S", &time) == nullptr) return 0;
  return ::timegm(&time);
}

Json model_object(const ModelInfo& model, const std::vector<ModelStatus>& statuses) {
  bool loaded = false;
  std::string device;
  for (const ModelStatus& status : statuses) {
    if (status.name != model.name || status.state != ModelState::kLoaded) continue;
    loaded = true;
    device = status.description.substr(0, status.description.find(' '));
  }
  const bool english_only =
      model.name.size() > 3 && model.name.substr(model.name.size() - 3) == ".en";
  Json codes = Json::array();
  for (const Language& language : languages())
    if (!english_only || language.code == "en") codes.push_back(language.code);
  return {{"id", model.name},
          {"object", "model"},
          {"created", unix_time(model.pulled_at)},
          {"owned_by", model.source.empty() ? "local" : model.source},
          {"task", "automatic-speech-recognition"},
          {"loaded", loaded},
          {"device", loaded ? Json(device) : Json()},
          {"size_bytes", model.bytes},
          {"language", std::move(codes)}};
}

Response json_response(const Json& body) {
  Response response;
  response.content_type = "application/json";
  response.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  return response;
}

Response list_models(App& app, const Request& request) {
  const Result<std::vector<ModelInfo>> installed = app.catalogue().installed();
  if (!installed.ok()) return error_response(job_error(installed.status(), true, 1), request.path);
  const std::vector<ModelStatus> statuses = app.engine().models();
  Json data = Json::array();
  for (const ModelInfo& model : *installed)
    if (model.kind == ModelKind::kWhisper) data.push_back(model_object(model, statuses));
  return json_response({{"object", "list"}, {"data", std::move(data)}});
}

Response show_model(App& app, const Request& request, std::string_view name) {
  ModelOrError chosen = app.choose_model(name);
  if (const auto* error = std::get_if<ApiError>(&chosen))
    return error_response(*error, request.path);
  return json_response(model_object(std::get<ModelInfo>(chosen), app.engine().models()));
}

/// A path stands for itself only where the server was told so.
ModelOrError choose_to_load(const App& app, const std::string& name) {
  std::error_code ignored;
  const bool is_path =
      name.find('/') != std::string::npos && std::filesystem::exists(name, ignored);
  ModelOrError chosen = app.choose_model(name);
  if (std::holds_alternative<ModelInfo>(chosen) || !is_path) return chosen;
  if (!app.options()->allow_model_path) {
    ApiError error = forbidden("models are loaded by name; --allow-model-path lets paths in");
    error.param = "model";
    return error;
  }
  ModelInfo model;
  model.name = model.path = std::filesystem::weakly_canonical(name, ignored).string();
  model.installed = true;
  return model;
}

/// The field `model` of a form or of a JSON object.
Task<std::optional<std::variant<std::string, ApiError>>> read_model_name(Exchange& exchange) {
  using Name = std::variant<std::string, ApiError>;
  const Request& request = exchange.request();
  if (parse_parameterised(request.headers.get("Content-Type")).value != "application/json") {
    std::optional<FormOrError> form = co_await read_form(exchange);
    if (!form) co_return std::nullopt;
    if (auto* error = std::get_if<ApiError>(&*form)) co_return Name(*error);
    FieldReader fields(std::get<Form>(*form));
    const std::string name = fields.text("model");
    if (fields.error()) co_return Name(*fields.error());
    co_return Name(name);
  }
  constexpr size_t kLimit = 64 * 1024;
  const Result<std::string> body = co_await read_whole_body(exchange, kLimit);
  if (!body.ok()) co_return Name(body_error(body.status()));
  const nlohmann::json parsed = nlohmann::json::parse(*body, nullptr, false);
  if (parsed.is_discarded()) co_return Name(bad_request("invalid_json", "the body is not JSON"));
  const bool has_name =
      parsed.is_object() && parsed.contains("model") && parsed["model"].is_string();
  co_return Name(has_name ? parsed["model"].get<std::string>() : std::string());
}

Task<void> load(App& app, Exchange& exchange) {
  const std::string& path = exchange.request().path;
  auto name = co_await read_model_name(exchange);
  if (!name) co_return;
  std::optional<ApiError> error;
  ModelInfo model;
  if (auto* broken = std::get_if<ApiError>(&*name)) {
    error = *broken;
  } else if (std::get<std::string>(*name).empty()) {
    error = bad_request("missing_field", "name the model to load", "model");
  } else {
    ModelOrError chosen = choose_to_load(app, std::get<std::string>(*name));
    if (auto* unknown = std::get_if<ApiError>(&chosen)) {
      error = *unknown;
    } else {
      model = std::get<ModelInfo>(std::move(chosen));
    }
  }
  if (!error) {
    // The old model goes on serving until the new one is there.
    auto loaded = std::make_shared<Mailbox<Status>>(exchange.executor());
    app.engine().preload(model, [loaded](const Status& status) { loaded->post(status); });
    constexpr std::chrono::hours kLong{1};
    const std::optional<Status> status = co_await loaded->next(kLong);
    if (!status || !status->ok()) {
      error = job_error(status ? *status : internal_error("the model did not load"), true, 1);
    }
  }
  if (error) {
    co_await exchange.respond(error_response(*error, path));
    co_return;
  }
  app.set_default_model(std::move(model));
  Response response;
  response.content_type = "application/text";
  response.body = "Load was successful!";
  co_await exchange.respond(std::move(response));
}

}  // namespace

void add_model_routes(Router& router, App& app) {
  const auto options = app.options();
  const std::string& prefix = options->request_path;
  router.add("GET", prefix + "/v1/models", [&app](Exchange& exchange) -> Task<void> {
    co_await exchange.respond(list_models(app, exchange.request()));
  });
  const std::string one = prefix + "/v1/models/";
  router.add("GET", one + "*", [&app, length = one.size()](Exchange& exchange) -> Task<void> {
    const Request& request = exchange.request();
    co_await exchange.respond(
        show_model(app, request, std::string_view(request.path).substr(length)));
  });
  router.add("POST", prefix + "/load",
             [&app](Exchange& exchange) -> Task<void> { co_await load(app, exchange); });
}

}  // namespace sotto::serve
