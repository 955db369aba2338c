// Requests of the command line to a speech-to-text server.
#ifndef SOTTO_CLI_HTTP_CLIENT_H_
#define SOTTO_CLI_HTTP_CLIENT_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sotto/status.h"

namespace sotto::cli {

struct HttpRequest {
  std::string url;
  /// With a file: a multipart POST; else a GET.
  std::vector<std::pair<std::string, std::string>> fields;
  std::string file_path;                          ///< The form's "file", by its path
  std::string file_bytes;                         ///< Or by its content
  int timeout_ms = 0;                             ///< For the whole answer; 0: none
  std::function<void(std::string_view)> on_data;  ///< Pieces of the answer's body
  std::function<bool()> should_stop;
};

struct HttpAnswer {
  int status = 0;
  std::string body;
};

/// SOTTO_API_KEY goes along as a bearer token. kUnavailable: no answer; kCancelled.
Result<HttpAnswer> send_http(const HttpRequest& request);

}  // namespace sotto::cli

#endif  // SOTTO_CLI_HTTP_CLIENT_H_
