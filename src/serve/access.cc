#include "serve/access.h"

#include <algorithm>

namespace sotto::serve {
namespace {

/// "http://localhost:3000" -> "localhost"; "[::1]:80" -> "::1"; "" when there is none.
std::string host_of(std::string_view text) {
  if (const size_t scheme = text.find("://"); scheme != std::string_view::npos)
    text.remove_prefix(scheme + 3);
  if (!text.empty() && text.front() == '[') {
    const size_t end = text.find(']');
    return end == std::string_view::npos ? std::string() : std::string(text.substr(1, end - 1));
  }
  return to_lower(text.substr(0, text.find_first_of(":/")));
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!part.empty() && part.front() == ' ')
      part.remove_prefix(1);
    while (!part.empty() && (part.back() == ' ' || part.back() == '/'))
      part.remove_suffix(1);
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

/// A page that the server itself gave out.
bool is_own_origin(std::string_view origin, const Request& request) {
  const std::string_view host = request.headers.get("Host");
  const size_t scheme = origin.find("://");
  return scheme != std::string_view::npos && !host.empty() &&
         equals_ignoring_case(origin.substr(scheme + 3), host);
}

bool origin_allowed(const AccessPolicy& policy, std::string_view origin, const Request& request) {
  if (is_own_origin(origin, request) || policy.cors == "*") return true;
  if (policy.cors == "none") return false;
  const bool is_web = origin.substr(0, 7) == "http://" || origin.substr(0, 8) == "https://";
  if (policy.cors == "localhost") return is_web && is_loopback(host_of(origin));
  const auto allowed = split(policy.cors);
  return std::any_of(allowed.begin(), allowed.end(),
                     [&](std::string_view other) { return equals_ignoring_case(other, origin); });
}

std::string_view presented_key(const Request& request) {
  const std::string_view authorization = request.headers.get("Authorization");
  constexpr std::string_view kBearer = "Bearer ";
  if (equals_ignoring_case(authorization.substr(0, kBearer.size()), kBearer))
    return authorization.substr(kBearer.size());
  if (request.headers.has("X-API-Key")) return request.headers.get("X-API-Key");
  // Browsers cannot set headers of a WebSocket.
  if (!request.wants_websocket) return {};
  const auto key = request.query.find("api_key");
  return key == request.query.end() ? std::string_view() : std::string_view(key->second);
}

}  // namespace

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host == "127.0.0.1" ||
         (host.substr(0, 4) == "127." &&
          host.find_first_not_of("0123456789.") == std::string_view::npos) ||
         (host.size() > 10 && host.substr(host.size() - 10) == ".localhost");
}

Status check_access_policy(const AccessPolicy& policy) {
  if (policy.cors == "localhost" || policy.cors == "*" || policy.cors == "none") return {};
  const auto origins = split(policy.cors);
  const bool sound =
      !origins.empty() && std::all_of(origins.begin(), origins.end(), [](std::string_view origin) {
        return origin.find("://") != std::string_view::npos;
      });
  if (sound) return {};
  return invalid_argument("--cors '" + policy.cors +
                          "'\nuse localhost, *, none, or origins such as https://example.org");
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0u : 1u;
  for (size_t i = 0; i < a.size(); ++i) {
    const char other = b.empty() ? '\0' : b[i % b.size()];
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(other);
  }
  return difference == 0;
}

std::vector<std::string> parse_api_keys(std::string_view text) {
  std::vector<std::string> keys;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    constexpr std::string_view kSpace = " \t\r";
    const size_t begin = line.find_first_not_of(kSpace);
    if (begin == std::string_view::npos || line[begin] == '#') continue;
    line = line.substr(begin, line.find_last_not_of(kSpace) - begin + 1);
    keys.emplace_back(line);
  }
  return keys;
}

std::optional<ApiError> check_origin(const AccessPolicy& policy, const Request& request) {
  if (policy.check_host) {
    const std::string_view header = request.headers.get("Host");
    const std::string host = host_of(header);
    const bool known = header.empty() || is_loopback(host) ||
                       std::find(policy.allowed_hosts.begin(), policy.allowed_hosts.end(), host) !=
                           policy.allowed_hosts.end();
    if (!known) return forbidden("the host name '" + host + "' is not one of this machine's");
  }
  const std::string_view origin = request.headers.get("Origin");
  if (origin.empty() || origin_allowed(policy, origin, request)) return std::nullopt;
  return forbidden("pages of '" + std::string(origin) +
                   "' may not use this server; --cors changes that");
}

std::optional<ApiError> check_key(const AccessPolicy& policy, const Request& request) {
  if (policy.api_keys.empty()) return std::nullopt;
  const std::string_view key = presented_key(request);
  bool known = false;
  for (const std::string& valid : policy.api_keys)
    known = equal_in_constant_time(key, valid) || known;
  return known ? std::nullopt : std::optional(unauthorised());
}

Headers cors_headers(const AccessPolicy& policy, const Request& request) {
  Headers headers;
  const std::string_view origin = request.headers.get("Origin");
  if (origin.empty()) return headers;
  headers.add("Access-Control-Allow-Origin", policy.cors == "*" ? "*" : std::string(origin));
  headers.add("Access-Control-Expose-Headers",
              "X-Request-Id, X-STT-Path, X-STT-Fallback, X-STT-Model");
  if (policy.cors != "*") headers.add("Vary", "Origin");
  return headers;
}

Response preflight_response(const Request& request) {
  Response response;
  response.status = 204;
  response.headers.add("Access-Control-Allow-Methods", "GET, POST, DELETE, OPTIONS");
  const std::string_view wanted = request.headers.get("Access-Control-Request-Headers");
  if (!wanted.empty()) response.headers.add("Access-Control-Allow-Headers", std::string(wanted));
  response.headers.add("Access-Control-Max-Age", "86400");
  return response;
}

}  // namespace sotto::serve
