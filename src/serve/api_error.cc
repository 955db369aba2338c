#include "serve/api_error.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/utf8.h"

namespace sotto::serve {
namespace {

constexpr std::string_view kInvalidRequest = "invalid_request_error";
constexpr std::string_view kServerError = "server_error";
constexpr std::string_view kUnavailable = "unavailable_error";
/// The client's own doing, which it must not repeat by itself. The number is nginx's.
constexpr int kStatusCancelled = 499;

ApiError make(int status, std::string_view type, std::string_view code, std::string message) {
  ApiError error;
  error.status = status;
  error.type = type;
  error.code = code;
  error.message = std::move(message);
  return error;
}

}  // namespace

ApiError bad_request(std::string_view code, std::string message, std::string param) {
  ApiError error = make(400, kInvalidRequest, code, std::move(message));
  error.param = std::move(param);
  return error;
}

ApiError forbidden(std::string message) {
  return make(403, "permission_error", "origin_not_allowed", std::move(message));
}

ApiError unauthorised() {
  return make(401, "authentication_error", "invalid_api_key",
              "a valid API key is needed: Authorization: Bearer KEY");
}

ApiError route_not_found(std::string_view method, std::string_view path) {
  return make(404, "not_found_error", "route_not_found",
              fmt::format("there is no {} {}; see /openapi.json", method, path));
}

ApiError model_not_found(std::string message) {
  ApiError error = make(404, "not_found_error", "model_not_found", std::move(message));
  error.param = "model";
  return error;
}

ApiError not_supported(std::string message, std::string param) {
  ApiError error = make(501, "not_supported_error", "not_supported", std::move(message));
  error.param = std::move(param);
  return error;
}

ApiError unavailable_error(std::string_view code, std::string message, int retry_after_s) {
  ApiError error = make(503, kUnavailable, code, std::move(message));
  error.retry_after_s = retry_after_s;
  return error;
}

ApiError queue_full(const std::string& what, int retry_after_s) {
  return unavailable_error(
      "queue_full", fmt::format("{}; try again in about {} s", what, retry_after_s), retry_after_s);
}

ApiError body_error(const Status& status) {
  switch (status.code()) {
    case StatusCode::kResourceExhausted:
      return make(413, kInvalidRequest, "payload_too_large", status.message());
    case StatusCode::kDeadlineExceeded:
      return make(408, kInvalidRequest, "request_timeout", status.message());
    case StatusCode::kInvalidArgument:
      return bad_request("invalid_value", status.message());
    default:
      return make(500, kServerError, "internal_error", status.message());
  }
}

ApiError job_error(const Status& status, bool decoded, int retry_after_s) {
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
      return bad_request("invalid_value", status.message());
    case StatusCode::kCancelled:
      return make(kStatusCancelled, kInvalidRequest, "cancelled", status.message());
    case StatusCode::kDeadlineExceeded:
      return make(504, kServerError, "deadline_exceeded", status.message());
    case StatusCode::kUnavailable:
      return unavailable_error("device_busy", status.message(), retry_after_s);
    case StatusCode::kResourceExhausted:
      if (!decoded) return make(413, kInvalidRequest, "payload_too_large", status.message());
      break;
    case StatusCode::kCorrupt:
    case StatusCode::kUnsupported:
      if (decoded) break;
      {
        ApiError error = make(415, kInvalidRequest, "unsupported_audio", status.message());
        error.param = "file";
        return error;
      }
    default:
      break;
  }
  return make(500, kServerError, "internal_error", status.message());
}

std::string error_json(const ApiError& error) {
  nlohmann::ordered_json body;
  body["message"] = utf8_repair(error.message);
  body["type"] = error.type;
  body["param"] =
      error.param.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(error.param);
  body["code"] = error.code;
  return body.dump();
}

Response error_response(const ApiError& error, std::string_view path) {
  Response response;
  response.status = error.status;
  response.content_type = "application/json";
  const bool is_ollama = path.substr(0, 5) == "/api/";
  response.body = is_ollama ? nlohmann::json{{"error", utf8_repair(error.message)}}.dump()
                            : "{\"error\":" + error_json(error) + "}";
  if (error.status == 401) response.headers.add("WWW-Authenticate", "Bearer");
  if (error.retry_after_s > 0)
    response.headers.add("Retry-After", std::to_string(error.retry_after_s));
  return response;
}

}  // namespace sotto::serve
