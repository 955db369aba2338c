// Routes that tell about the server: health, metrics, progress, the list of routes.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "serve/app.h"
#include "serve/openapi.h"

namespace sotto::serve {
namespace {

using Json = nlohmann::ordered_json;

Response json_response(const Json& body, int status = 200) {
  Response response;
  response.status = status;
  response.content_type = "application/json";
  response.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  return response;
}

/// A handler without a body to read or anything to wait for.
Handler simple(std::function<Response(const Request&)> answer) {
  return [answer = std::move(answer)](Exchange& exchange) -> Task<void> {
    co_await exchange.respond(answer(exchange.request()));
  };
}

std::string_view state_name(ModelState state) {
  switch (state) {
    case ModelState::kUnloaded:
      return "unloaded";
    case ModelState::kLoading:
      return "loading";
    case ModelState::kLoaded:
      return "loaded";
    case ModelState::kFailed:
      break;
  }
  return "failed";
}

/// Both llama-server's shape of a server that is not ready and whisper-server's.
void add_failure(Json& body, std::string status, const std::string& message) {
  body["status"] = std::move(status);
  body["error"] = {{"code", 503}, {"message", message}, {"type", "unavailable_error"}};
}

Response health(App& app) {
  Json body = {{"status", "ok"}};
  Json models = Json::array();
  const Result<ModelInfo> default_model = app.default_model();
  int code = 200;
  std::string device = "cpu";
  for (const ModelStatus& model : app.engine().models()) {
    models.push_back({{"name", model.name}, {"state", state_name(model.state)}});
    if (!model.description.empty()) {
      models.back()["description"] = model.description;
      device = model.description.substr(0, model.description.find(' '));
    }
    if (!default_model.ok() || model.name != default_model->name) continue;
    if (model.state == ModelState::kLoading && !model.running) {
      code = 503;
      add_failure(body, "loading model", "Loading model");
    } else if (model.state == ModelState::kFailed) {
      code = 503;
      add_failure(body, "error", model.error);
    }
  }
  body["device"] = device;
  body["models"] = std::move(models);
  body["default_model"] = default_model.ok() ? Json(default_model->name) : Json();
  body["queue_depth"] = app.engine().waiting();
  body["running"] = app.engine().running();
  body["uptime_s"] = static_cast<int64_t>(app.uptime_s());
  body["version"] = app.options()->version;
  for (const auto& part : app.health_parts)
    part(body);
  Response response = json_response(body, code);
  if (code == 503) response.headers.add("Retry-After", "1");
  return response;
}

Response live(App& app) {
  return json_response({{"status", "ok"},
                        {"uptime_s", static_cast<int64_t>(app.uptime_s())},
                        {"requests", app.metrics().total(Metric::kRequests)},
                        {"jobs", app.metrics().total(Metric::kJobs)},
                        {"queue_depth", app.engine().waiting()},
                        {"running", app.engine().running()}});
}

Response metrics(App& app, const Request& request) {
  if (!app.options()->metrics)
    return error_response(not_supported("start the server with --metrics"), request.path);
  app.metrics().set(Metric::kQueueDepth, {}, app.engine().waiting());
  Response response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = app.metrics().text();
  return response;
}

ApiError job_not_found(const Status& status) {
  ApiError error = route_not_found("", "");
  error.message = status.message();
  return error;
}

Response progress(App& app, const Request& request, std::string_view id) {
  const Result<JobProgress> job = app.engine().progress(id);
  if (!job.ok()) return error_response(job_not_found(job.status()), request.path);
  return json_response({{"state", job_state_name(job->state)},
                        {"position", job->position},
                        {"progress", job->progress},
                        {"audio_s", job->audio_s >= 0 ? Json(job->audio_s) : Json()}});
}

Response cancel_by_body(App& app, const std::string& body, const std::string& path) {
  const nlohmann::json parsed = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  const std::string* id = json_string(parsed, "request_id");
  if (id == nullptr) {
    return error_response(
        bad_request("missing_field", "the body is not {\"request_id\": \"…\"}", "request_id"),
        path);
  }
  const Status status = app.engine().cancel(*id);
  if (status.ok()) return json_response({{"status", "cancelled"}});
  return error_response(job_not_found(status), path);
}

Task<void> cancel(App& app, Exchange& exchange) {
  constexpr size_t kLimit = 64 * 1024;
  const std::string& path = exchange.request().path;
  const Result<std::string> body = co_await read_whole_body(exchange, kLimit);
  // gcc 12 destroys the operands of ?: twice when they stand in a co_await expression.
  Response response = body.ok() ? cancel_by_body(app, *body, path)
                                : error_response(body_error(body.status()), path);
  co_await exchange.respond(std::move(response));
}

}  // namespace

void add_info_routes(Router& router, App& app) {
  const auto options = app.options();
  const std::string& prefix = options->request_path;
  const auto health_handler = simple([&app](const Request&) { return health(app); });
  router.add("GET", prefix + "/health", health_handler, /*is_public=*/true);
  router.add("GET", prefix + "/v1/health", health_handler, /*is_public=*/true);
  router.add("GET", prefix + "/live", simple([&app](const Request&) { return live(app); }),
             /*is_public=*/true);
  router.add("GET", prefix + "/metrics",
             simple([&app](const Request& request) { return metrics(app, request); }));
  const auto version = simple([&app](const Request&) {
    return json_response({{"version", app.options()->version}});
  });
  router.add("GET", prefix + "/api/version", version);
  router.add("GET", prefix + "/v1/version", version);
  router.add("GET", prefix + "/openapi.json", simple([&app](const Request&) {
               const auto current = app.options();
               return json_response(openapi_document(*current));
             }));
  const std::string progress_prefix = prefix + "/v1/audio/progress/";
  router.add("GET", progress_prefix + "*",
             simple([&app, length = progress_prefix.size()](const Request& request) {
               return progress(app, request, std::string_view(request.path).substr(length));
             }));
  router.add("POST", prefix + "/api/cancel",
             [&app](Exchange& exchange) -> Task<void> { co_await cancel(app, exchange); });
  const auto not_built = [](std::string what) {
    return simple([what = std::move(what)](const Request& request) {
      return error_response(not_supported(what), request.path);
    });
  };
  router.add("POST", prefix + "/v1/audio/speech", not_built("speech cannot be made yet"));
  router.add("POST", prefix + "/v1/embeddings", not_built("embeddings cannot be made yet"));
  for (const char* path : {"/v1/chat/completions", "/v1/completions", "/api/chat", "/api/generate"})
    router.add("POST", prefix + path, not_built("language models cannot be run yet"));
}

}  // namespace sotto::serve
