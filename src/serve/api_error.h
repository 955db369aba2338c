// Failures as the HTTP API tells them: one shape a family of paths.
#ifndef SOTTO_SERVE_API_ERROR_H_
#define SOTTO_SERVE_API_ERROR_H_

#include <string>
#include <string_view>

#include "serve/http/message.h"
#include "sotto/status.h"

namespace sotto::serve {

struct ApiError {
  int status = 500;
  std::string_view type;  ///< "invalid_request_error", …
  std::string_view code;  ///< "invalid_value", …
  std::string message;
  std::string param;      ///< Field that is wrong; empty: none
  int retry_after_s = 0;  ///< 0: not said
};

ApiError bad_request(std::string_view code, std::string message, std::string param = {});
ApiError forbidden(std::string message);
ApiError unauthorised();
ApiError route_not_found(std::string_view method, std::string_view path);
ApiError model_not_found(std::string message);
ApiError not_supported(std::string message, std::string param = {});
ApiError queue_full(const std::string& what, int retry_after_s);
ApiError unavailable_error(std::string_view code, std::string message, int retry_after_s);

/// Of reading a request's body.
ApiError body_error(const Status& status);
/// Of a transcription. `decoded`: the recording had been read, so the fault is not its.
ApiError job_error(const Status& status, bool decoded, int retry_after_s);

/// {"error":{"message","type","param","code"}} as OpenAI has it, or under /api/ {"error":"message"}
/// as Ollama has it.
Response error_response(const ApiError& error, std::string_view path);
/// The object of the first shape, for streams.
std::string error_json(const ApiError& error);

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_API_ERROR_H_
