// HttpClient over libcurl.
#include <curl/curl.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "models/registry/http.h"

namespace sotto::registry {
namespace {

constexpr long kMaxRedirects = 10;
constexpr long kStallSeconds = 30;  // nothing arrives for this long: the connection is dead
constexpr size_t kErrorTextLimit = 300;

/// One request while it runs; libcurl's callbacks get a pointer to it.
struct Exchange {
  const HttpRequest& request;
  const HttpSink& sink;
  HeaderParser parser;
  bool headers_given = false;
  bool range_is_wrong = false;
  Status sink_status;
  std::string error_text;  ///< Begin of the body of an error answer

  [[nodiscard]] bool is_success() const {
    const int status = parser.headers(0).status;
    return status == 200 || status == 206;
  }

  Status give_headers() {
    if (headers_given) return {};
    headers_given = true;
    return sink.on_headers(parser.headers(request.offset));
  }

  /// False stops the transfer.
  bool take(std::span<const std::byte> bytes) {
    if (!is_success()) {
      const size_t room = kErrorTextLimit - std::min(kErrorTextLimit, error_text.size());
      error_text.append(reinterpret_cast<const char*>(bytes.data()), std::min(room, bytes.size()));
      return true;
    }
    if (!parser.range_fits(request.offset)) {
      range_is_wrong = true;
      return false;
    }
    sink_status = give_headers();
    if (sink_status.ok()) sink_status = sink.on_data(bytes);
    return sink_status.ok();
  }
};

size_t on_header(char* data, size_t size, size_t count, void* user) {
  static_cast<Exchange*>(user)->parser.add_line({data, size * count});
  return size * count;
}

size_t on_body(char* data, size_t size, size_t count, void* user) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size * count);
  return static_cast<Exchange*>(user)->take(bytes) ? bytes.size() : CURL_WRITEFUNC_ERROR;
}

int on_tick(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const auto& should_stop = static_cast<Exchange*>(user)->sink.should_stop;
  return should_stop && should_stop() ? 1 : 0;
}

/// What to tell about an answer that is not a file, and what to do about it.
std::string explain_status(int status, bool has_token) {
  switch (status) {
    case 401:
      return has_token ? "401: the token in HF_TOKEN is not accepted there"
                       : "401: it asks for a token; set HF_TOKEN to one of yours";
    case 403:
      return "403: access is refused; accept the model's terms on its page and set "
             "HF_TOKEN to a token that may read it";
    case 404:
      return "404: there is no such file or repository";
    case 429:
      return "429: too many requests; wait a little, or set HF_TOKEN";
    default:
      break;
  }
  const std::string number = std::to_string(status);
  return status >= 500 ? number + ": the server has a fault of its own" : number;
}

class CurlClient final : public HttpClient {
 public:
  explicit CurlClient(CURL* curl) : curl_(curl) {}
  ~CurlClient() override { curl_easy_cleanup(curl_); }
  CurlClient(const CurlClient&) = delete;
  CurlClient& operator=(const CurlClient&) = delete;

  HttpOutcome get(const HttpRequest& request, const HttpSink& sink) override {
    Exchange exchange{request, sink, {}, false, false, {}, {}};
    curl_slist* headers = nullptr;
    if (!request.bearer_token.empty()) {
      headers =
          curl_slist_append(headers, ("Authorization: Bearer " + request.bearer_token).c_str());
    }
    prepare(exchange, headers);
    CURLcode code = curl_easy_perform(curl_);
    curl_slist_free_all(headers);
    if (code == CURLE_OK && exchange.is_success()) {  // an empty file has no body callback
      exchange.sink_status = exchange.give_headers();
    }
    return outcome(exchange, code);
  }

 private:
  void prepare(Exchange& exchange, curl_slist* headers) {
    const HttpRequest& request = exchange.request;
    curl_easy_reset(curl_);
    curl_easy_setopt(curl_, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(curl_, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl_, CURLOPT_USERAGENT, "sotto");
    curl_easy_setopt(curl_, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl_, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl_, CURLOPT_MAXREDIRS, kMaxRedirects);
    // A download that began with TLS does not leave it.
    const bool is_tls = request.url.starts_with("https://");
    curl_easy_setopt(curl_, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl_, CURLOPT_REDIR_PROTOCOLS_STR, is_tls ? "https" : "http,https");
    curl_easy_setopt(curl_, CURLOPT_CONNECTTIMEOUT_MS,
                     static_cast<long>(request.connect_timeout_ms));
    curl_easy_setopt(curl_, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl_, CURLOPT_LOW_SPEED_TIME, kStallSeconds);
    for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
      const char* file = std::getenv(name);
      if (file == nullptr || *file == '\0') continue;
      curl_easy_setopt(curl_, CURLOPT_CAINFO, file);
      break;
    }
    if (request.offset > 0) {
      curl_easy_setopt(curl_, CURLOPT_RANGE, (std::to_string(request.offset) + "-").c_str());
    }
    curl_easy_setopt(curl_, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(curl_, CURLOPT_HEADERDATA, &exchange);
    curl_easy_setopt(curl_, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(curl_, CURLOPT_WRITEDATA, &exchange);
    curl_easy_setopt(curl_, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl_, CURLOPT_XFERINFOFUNCTION, on_tick);
    curl_easy_setopt(curl_, CURLOPT_XFERINFODATA, &exchange);
  }

  HttpOutcome outcome(const Exchange& exchange, CURLcode code) {
    HttpOutcome result;
    result.headers = exchange.parser.headers(exchange.request.offset);
    result.retry_after_s = exchange.parser.retry_after_s();
    const char* location = nullptr;
    curl_easy_getinfo(curl_, CURLINFO_EFFECTIVE_URL, &location);
    result.location = location == nullptr ? exchange.request.url : location;
    if (!exchange.sink_status.ok()) {
      result.end = HttpEnd::kSink;
      result.status = exchange.sink_status;
    } else if (exchange.range_is_wrong) {
      result.end = HttpEnd::kBroken;
      result.status = unavailable("the server sent another part of the file than it was asked for");
    } else if (code != CURLE_OK) {
      explain(code, result);
    } else if (exchange.is_success()) {
      result.end = HttpEnd::kDone;
    } else {
      const int status = result.headers.status;
      result.end = status == 429 || status >= 500 ? HttpEnd::kBroken : HttpEnd::kRefused;
      result.status = unavailable("the server answers " +
                                  explain_status(status, !exchange.request.bearer_token.empty()));
    }
    return result;
  }

  void explain(CURLcode code, HttpOutcome& result) {
    const std::string host = url_origin(result.location);
    // Bytes that had begun to come tell a cut connection from one that never was.
    const bool has_begun = result.headers.status != 0;
    switch (code) {
      case CURLE_ABORTED_BY_CALLBACK:
        result.end = HttpEnd::kStopped;
        result.status = cancelled("interrupted; what has arrived is kept for the next pull");
        return;
      case CURLE_COULDNT_RESOLVE_HOST:
      case CURLE_COULDNT_RESOLVE_PROXY:
        result.end = HttpEnd::kUnreachable;
        result.status = unavailable("cannot find the host of " + host + " (no network or no DNS)");
        return;
      case CURLE_COULDNT_CONNECT:
        result.end = HttpEnd::kUnreachable;
        result.status = unavailable("cannot connect to " + host);
        return;
      case CURLE_OPERATION_TIMEDOUT:
        result.end = has_begun ? HttpEnd::kBroken : HttpEnd::kUnreachable;
        result.timed_out = !has_begun;
        result.status = unavailable(host + (has_begun ? " stopped sending" : " does not answer"));
        return;
      case CURLE_PARTIAL_FILE:
      case CURLE_RECV_ERROR:
      case CURLE_SEND_ERROR:
      case CURLE_GOT_NOTHING:
      case CURLE_HTTP2:
      case CURLE_HTTP2_STREAM:
        result.end = HttpEnd::kBroken;
        result.status = unavailable("the connection to " + host + " broke");
        return;
      case CURLE_PEER_FAILED_VERIFICATION:
      case CURLE_SSL_CACERT_BADFILE:
        result.status = unavailable("the certificate of " + host +
                                    " is not trusted; SSL_CERT_FILE can name your own authority");
        return;
      case CURLE_TOO_MANY_REDIRECTS:
        result.status = unavailable(host + " sends on and on to other addresses");
        return;
      default:
        result.status =
            unavailable("fetching from " + host + " failed: " + curl_easy_strerror(code));
        return;
    }
  }

  CURL* curl_;
};

}  // namespace

Result<std::unique_ptr<HttpClient>> make_curl_client() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  CURL* curl = curl_easy_init();
  if (curl == nullptr) return internal_error("libcurl cannot be set up");
  return std::unique_ptr<HttpClient>(std::make_unique<CurlClient>(curl));
}

}  // namespace sotto::registry
