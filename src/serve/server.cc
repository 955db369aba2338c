#include "serve/server.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"
#include "serve/page/page.h"

namespace sotto::serve {
namespace {

constexpr int kStatusClientGone = 499;

bool begins_with_slash(const std::string& path) {
  return path.empty() || path.front() == '/';
}

}  // namespace

Status check_options(const ServerOptions& options) {
  const HttpOptions& http = options.http;
  SOTTO_RETURN_IF_ERROR(check_access_policy(options.access));
  if (http.port < 0 || http.port > 65535)
    return invalid_argument(fmt::format("--port {}\nuse 0 to 65535", http.port));
  if (options.engine.max_queue < 0) return invalid_argument("--max-queue must not be negative");
  if (!begins_with_slash(options.inference_path) || options.inference_path.empty())
    return invalid_argument("--inference-path must begin with '/'");
  if (!begins_with_slash(options.request_path))
    return invalid_argument("--request-path must begin with '/'");
  return {};
}

Server::Server(ServerOptions options, const ModelCatalogue& catalogue, ModelLoader loader)
    : app_(std::move(options), catalogue, std::move(loader)),
      http_(std::make_unique<HttpServer>(
          app_.options()->http,
          [this](Exchange& exchange) -> Task<void> { co_await handle(exchange); })) {
  add_speech_routes(router_, app_);
  add_info_routes(router_, app_);
  add_model_routes(router_, app_);
  add_page_routes(router_, app_.options()->request_path);
}

Server::~Server() {
  app_.engine().drain();
  http_->stop(Clock::now());
  if (app_.fallback != nullptr) app_.fallback->stop();
}

Status Server::start() {
  const auto options = app_.options();
  SOTTO_RETURN_IF_ERROR(check_options(*options));
  SOTTO_RETURN_IF_ERROR(http_->start());
  const Result<ModelInfo> model = app_.default_model();
  if (model.ok() && options->preload) app_.engine().preload(*model);
  return {};
}

void Server::stop() {
  const auto end = Clock::now() + app_.options()->grace;
  app_.engine().drain();
  http_->stop(end);
  if (app_.fallback != nullptr) app_.fallback->stop();
  app_.engine().stop(Clock::now());
}

Status Server::reconfigure(ServerOptions options) {
  SOTTO_RETURN_IF_ERROR(check_options(options));
  app_.reconfigure(std::move(options));
  return {};
}

Task<void> Server::handle(Exchange& exchange) {
  const auto start = Clock::now();
  const Request& request = exchange.request();
  std::string endpoint = "other";
  co_await dispatch(exchange, endpoint);
  const int status = exchange.status() == 0 ? kStatusClientGone : exchange.status();
  const double ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  app_.metrics().add(Metric::kRequests, {{"endpoint", endpoint}, {"code", std::to_string(status)}});
  spdlog::info("{} {} {} {} {:.0f} ms, id {}", request.remote, request.method, request.path, status,
               ms, request.id);
}

Task<void> Server::dispatch(Exchange& exchange, std::string& endpoint) {
  const Request& request = exchange.request();
  const auto options = app_.options();
  exchange.add_header("X-Request-Id", request.id);
  const std::optional<ApiError> stranger = check_origin(options->access, request);
  if (stranger) {
    co_await exchange.respond(error_response(*stranger, request.path));
    co_return;
  }
  for (const auto& [name, value] : cors_headers(options->access, request))
    exchange.add_header(name, value);
  if (request.method == "OPTIONS") {
    endpoint = "preflight";
    co_await exchange.respond(preflight_response(request));
    co_return;
  }
  std::string allowed;
  const Route* route = router_.find(request.method, request.path, &allowed);
  std::optional<ApiError> error;
  if (route == nullptr || !route->is_public) error = check_key(options->access, request);
  if (!error && route == nullptr) {
    error = route_not_found(request.method, request.path);
    if (!allowed.empty()) {
      error->status = 405;
      error->type = "invalid_request_error";
      error->code = "method_not_allowed";
      exchange.add_header("Allow", allowed);
    }
  }
  if (error) {
    co_await exchange.respond(error_response(*error, request.path));
    co_return;
  }
  endpoint = route->pattern;
  co_await route->handler(exchange);
}

}  // namespace sotto::serve
