// Fetching over HTTP. An interface, so that tests can put a scripted server in the place of
// libcurl.
#ifndef SOTTO_MODELS_REGISTRY_HTTP_H_
#define SOTTO_MODELS_REGISTRY_HTTP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sotto/status.h"

namespace sotto::registry {

struct HttpRequest {
  std::string url;
  std::string bearer_token;  ///< Empty: none. Never sent to another host after a redirect
  int64_t offset = 0;        ///< First byte that is wanted
  int connect_timeout_ms = 0;
};

/// What the server says before the bytes come. Redirects have been followed.
struct HttpHeaders {
  int status = 0;
  int64_t first = 0;   ///< Offset of the first byte that comes; 0 when the server ignores ranges
  int64_t total = -1;  ///< Bytes of the whole file; -1: not said
  std::string sha256;  ///< Of the whole file, as the hub promises it; empty: not said
};

struct HttpSink {
  std::function<Status(const HttpHeaders&)> on_headers;  ///< Called once, for status 200 and 206
  std::function<Status(std::span<const std::byte>)> on_data;
  std::function<bool()> should_stop;  ///< May be empty
};

/// How a request ended, as far as the caller's next step depends on it.
enum class HttpEnd {
  kDone,         ///< All bytes came
  kUnreachable,  ///< No connection: no such host, refused, or not in time
  kBroken,       ///< It began and failed in a way that may pass: cut, stalled, 429, 5xx
  kRefused,      ///< The server answered that there is nothing: 4xx; `headers.status` says which
  kSink,         ///< The sink returned an error
  kStopped,      ///< should_stop
  kFailed,       ///< Anything else; a repetition would fail, too
};

struct HttpOutcome {
  HttpEnd end = HttpEnd::kFailed;
  bool timed_out = false;  ///< With kUnreachable: a longer wait might help
  HttpHeaders headers;
  std::string location;    ///< Where the answer came from, after redirects
  int retry_after_s = -1;  ///< The server's wish with 429 and 503
  Status status;           ///< Not ok unless kDone
};

class HttpClient {
 public:
  virtual ~HttpClient() = default;
  virtual HttpOutcome get(const HttpRequest& request, const HttpSink& sink) = 0;
};

/// Over libcurl, with its environment: http_proxy, https_proxy, no_proxy; CURL_CA_BUNDLE and
/// SSL_CERT_FILE name other certificates. One connection is kept open between requests.
Result<std::unique_ptr<HttpClient>> make_curl_client();

/// Collects response headers line by line, over all answers of a chain of redirects.
class HeaderParser {
 public:
  void add_line(std::string_view line);
  /// `offset` is what was asked for.
  [[nodiscard]] HttpHeaders headers(int64_t offset) const;
  [[nodiscard]] int retry_after_s() const { return retry_after_s_; }
  /// False when a 206 names a range that does not begin at `offset`.
  [[nodiscard]] bool range_fits(int64_t offset) const;

 private:
  int answers_ = 0;
  int status_ = 0;
  int retry_after_s_ = -1;
  int64_t content_length_ = -1;
  int64_t range_first_ = -1, range_total_ = -1;
  int64_t linked_size_ = -1;
  std::string sha256_;
};

/// `text` with everything but unreserved characters and '/' percent-encoded (RFC 3986).
std::string encode_url_path(std::string_view text);

/// Scheme, host and port of a URL, e.g. "https://huggingface.co".
std::string url_origin(std::string_view url);

}  // namespace sotto::registry

#endif  // SOTTO_MODELS_REGISTRY_HTTP_H_
