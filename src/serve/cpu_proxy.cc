#include "serve/cpu_proxy.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <boost/asio/this_coro.hpp>
#include <cstdlib>
#include <utility>

#include "base/log.h"
#include "serve/http/mailbox.h"

namespace sotto::serve {
namespace {

/// An answer of the other server that is longer is no transcript.
constexpr size_t kMaxAnswer = size_t{64} << 20;
constexpr std::chrono::hours kLong{24 * 365};

/// The value of STT_<name> or its alias NPU_STT_<name>; null when neither is set.
const char* setting(const char* name) {
  const std::string first = std::string("STT_") + name, second = "NPU_STT_" + std::string(name);
  const char* value = std::getenv(first.c_str());
  return value != nullptr ? value : std::getenv(second.c_str());
}

struct Forwarded {
  Status status;
  Response response;
};

/// One request to the other server, on a thread of its own: libcurl's easy interface waits.
class Forward {
 public:
  Forward(const CpuProxyOptions& options, const Form& form, const std::atomic<bool>& stopping)
      : options_(options), form_(form), stopping_(stopping) {}

  Forwarded run() {
    static const bool initialised = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    CURL* curl = initialised ? curl_easy_init() : nullptr;
    if (curl == nullptr) return {internal_error("libcurl cannot be used"), {}};
    curl_mime* mime = curl_mime_init(curl);
    fill(mime);
    configure(curl, mime);
    Forwarded result = perform(curl);
    curl_mime_free(mime);
    curl_easy_cleanup(curl);
    return result;
  }

 private:
  void fill(curl_mime* mime) const {
    bool has_language = false;
    for (const auto& [name, value] : form_.fields) {
      has_language = has_language || name == "language";
      add_field(mime, name, value);
    }
    // Without it whisper.cpp's server would take everything for English.
    if (!has_language) add_field(mime, "language", "auto");
    curl_mimepart* part = curl_mime_addpart(mime);
    curl_mime_name(part, "file");
    const Spool& bytes = *form_.file->bytes;
    if (bytes.path().empty()) {
      curl_mime_data(part, reinterpret_cast<const char*>(bytes.memory().data()),
                     bytes.memory().size());
    } else {
      curl_mime_filedata(part, bytes.path().c_str());
    }
    curl_mime_filename(part, form_.file->filename.empty() ? "audio" : form_.file->filename.c_str());
    if (!form_.file->content_type.empty()) curl_mime_type(part, form_.file->content_type.c_str());
  }

  static void add_field(curl_mime* mime, const std::string& name, const std::string& value) {
    curl_mimepart* part = curl_mime_addpart(mime);
    curl_mime_name(part, name.c_str());
    curl_mime_data(part, value.data(), value.size());
  }

  void configure(CURL* curl, curl_mime* mime) {
    curl_easy_setopt(curl, CURLOPT_URL, options_.url.c_str());
    curl_easy_setopt(curl, CURLOPT_MIMEPOST, mime);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 10L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, static_cast<long>(options_.timeout.count()));
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, this);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &Forward::on_progress);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Forward::on_body);
  }

  Forwarded perform(CURL* curl) {
    const CURLcode code = curl_easy_perform(curl);
    if (code != CURLE_OK) {
      return {unavailable(fmt::format("{}: {}", options_.url, curl_easy_strerror(code))), {}};
    }
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (status >= 500)
      return {unavailable(fmt::format("{} answered {}", options_.url, status)), {}};
    const char* type = nullptr;
    curl_easy_getinfo(curl, CURLINFO_CONTENT_TYPE, &type);
    Response response;
    response.status = static_cast<int>(status);
    response.content_type = type == nullptr ? "application/octet-stream" : type;
    response.body = std::move(body_);
    return {Status(), std::move(response)};
  }

  static int on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<Forward*>(self)->stopping_ ? 1 : 0;
  }
  static size_t on_body(char* data, size_t size, size_t count, void* self) {
    std::string& body = static_cast<Forward*>(self)->body_;
    if (body.size() + size * count > kMaxAnswer) return 0;
    body.append(data, size * count);
    return size * count;
  }

  const CpuProxyOptions& options_;
  const Form form_;
  const std::atomic<bool>& stopping_;
  std::string body_;
};

}  // namespace

struct CpuProxy::Thread {
  std::atomic<bool> done{false};
  std::thread thread;
};

CpuProxy::CpuProxy(CpuProxyOptions options) : options_(std::move(options)) {}

CpuProxy::~CpuProxy() {
  stop();
}

Status check_cpu_proxy_url(const std::string& url) {
  if (url.starts_with("http://") || url.starts_with("https://")) return {};
  return invalid_argument(fmt::format(
      "CPU server {}\nuse the URL of its route, e.g. http://127.0.0.1:8080/inference", url));
}

Result<CpuProxyOptions> cpu_proxy_options_from_environment() {
  CpuProxyOptions options;
  if (const char* url = setting("CPU_URL"); url != nullptr) options.url = url;
  if (const char* wait = setting("BUSY_WAIT_MS"); wait != nullptr) {
    char* end = nullptr;
    const long ms = std::strtol(wait, &end, 10);
    if (end == wait || *end != '\0' || ms < 0 || ms > 3'600'000) {
      return invalid_argument(
          fmt::format("STT_BUSY_WAIT_MS is '{}'\nuse milliseconds, 0 to 3600000", wait));
    }
    options.busy_wait = std::chrono::milliseconds(ms);
  }
  return options;
}

Task<std::optional<Response>> CpuProxy::answer(const Request&, const Form& form,
                                               std::string_view reason) {
  if (!form.file || stopping_) co_return std::nullopt;
  ++(reason == "busy" ? busy_ : reason == "decode" ? decode_ : error_);
  reap(/*all=*/false);
  auto mailbox =
      std::make_shared<Mailbox<Forwarded>>(Executor(co_await boost::asio::this_coro::executor));
  auto thread = std::make_unique<Thread>();
  thread->thread = std::thread([this, form, mailbox, self = thread.get()] {
    mailbox->post(Forward(options_, form, stopping_).run());
    self->done = true;
  });
  {
    const std::lock_guard lock(mutex_);
    threads_.push_back(std::move(thread));
  }
  std::optional<Forwarded> forwarded;
  while (!forwarded)
    forwarded = co_await mailbox->next(kLong);
  if (!forwarded->status.ok()) {
    ++proxy_failed_;
    spdlog::warn("the CPU server gave no answer: {}", forwarded->status.message());
    co_return std::nullopt;
  }
  Response response = std::move(forwarded->response);
  response.headers.add("X-STT-Path", "cpu");
  response.headers.add("X-STT-Fallback", std::string(reason));
  co_return response;
}

void CpuProxy::add_health(nlohmann::ordered_json& health, int64_t served_npu) const {
  health["cpu_url"] = options_.url;
  health["counters"] = {{"served_npu", served_npu},
                        {"busy", busy_.load()},
                        {"error", error_.load()},
                        {"decode", decode_.load()},
                        {"proxy_failed", proxy_failed_.load()}};
}

void CpuProxy::reap(bool all) {
  const std::lock_guard lock(mutex_);
  std::erase_if(threads_, [all](const std::unique_ptr<Thread>& thread) {
    if (!all && !thread->done) return false;
    thread->thread.join();
    return true;
  });
}

void CpuProxy::stop() {
  stopping_ = true;
  reap(/*all=*/true);
}

}  // namespace sotto::serve
