#include "cli/http_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <cstdlib>

#include "cli/terminal.h"

namespace sotto::cli {
namespace {

constexpr size_t kMaxBody = size_t{256} << 20;

struct Transfer {
  const HttpRequest& request;
  std::string body;
};

size_t on_body(char* data, size_t size, size_t count, void* context) {
  auto* transfer = static_cast<Transfer*>(context);
  if (transfer->body.size() + size * count > kMaxBody) return 0;
  transfer->body.append(data, size * count);
  if (transfer->request.on_data) transfer->request.on_data({data, size * count});
  return size * count;
}

int on_progress(void* context, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const auto* transfer = static_cast<const Transfer*>(context);
  return transfer->request.should_stop && transfer->request.should_stop() ? 1 : 0;
}

curl_mime* make_form(CURL* curl, const HttpRequest& request) {
  curl_mime* form = curl_mime_init(curl);
  for (const auto& [name, value] : request.fields) {
    curl_mimepart* part = curl_mime_addpart(form);
    curl_mime_name(part, name.c_str());
    curl_mime_data(part, value.data(), value.size());
  }
  curl_mimepart* part = curl_mime_addpart(form);
  curl_mime_name(part, "file");
  if (request.file_path.empty()) {
    curl_mime_data(part, request.file_bytes.data(), request.file_bytes.size());
    curl_mime_filename(part, "recording");
  } else {
    curl_mime_filedata(part, request.file_path.c_str());
  }
  return form;
}

}  // namespace

Result<HttpAnswer> send_http(const HttpRequest& request) {
  static const bool initialised = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  CURL* curl = initialised ? curl_easy_init() : nullptr;
  if (curl == nullptr) return internal_error("libcurl cannot be used");
  Transfer transfer{request, {}};
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_NOPROXY, "127.0.0.1,localhost,::1");
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout_ms));
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
  const char* key = std::getenv("SOTTO_API_KEY");
  curl_slist* headers =
      key == nullptr
          ? nullptr
          : curl_slist_append(nullptr, fmt::format("Authorization: Bearer {}", key).c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  const bool has_file = !request.file_path.empty() || !request.file_bytes.empty();
  curl_mime* form = has_file ? make_form(curl, request) : nullptr;
  if (form != nullptr) curl_easy_setopt(curl, CURLOPT_MIMEPOST, form);
  const CURLcode code = curl_easy_perform(curl);
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  curl_mime_free(form);
  curl_slist_free_all(headers);
  curl_easy_cleanup(curl);
  if (code == CURLE_ABORTED_BY_CALLBACK) return cancelled("stopped");
  if (code != CURLE_OK) {
    return unavailable(fmt::format("{}: {}\nis the server running? `sotto status` tells",
                                   printable(request.url), curl_easy_strerror(code)));
  }
  return HttpAnswer{static_cast<int>(status), std::move(transfer.body)};
}

}  // namespace sotto::cli
