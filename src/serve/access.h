// Who may ask: API keys, browser origins, host names.
#ifndef SOTTO_SERVE_ACCESS_H_
#define SOTTO_SERVE_ACCESS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/api_error.h"
#include "serve/http/message.h"
#include "sotto/status.h"

namespace sotto::serve {

struct AccessPolicy {
  std::vector<std::string> api_keys;  ///< None: everybody may
  /// "localhost" (any port of this machine's own names), "*", "none", or a list of origins joined
  /// by commas.
  std::string cors = "localhost";
  /// Only this machine's names and `allowed_hosts` are taken as Host, against pages that rebind a
  /// name of theirs to 127.0.0.1.
  bool check_host = false;
  std::vector<std::string> allowed_hosts;
};

/// kInvalidArgument for a cors that is none of the above.
Status check_access_policy(const AccessPolicy& policy);

/// "127.0.0.1", "::1", "localhost" and the like.
bool is_loopback(std::string_view host);

/// Why the request is refused, or nothing.
std::optional<ApiError> check_origin(const AccessPolicy& policy, const Request& request);
std::optional<ApiError> check_key(const AccessPolicy& policy, const Request& request);

/// What a browser wants to be told; empty for requests without an Origin.
Headers cors_headers(const AccessPolicy& policy, const Request& request);
/// The answer to OPTIONS.
Response preflight_response(const Request& request);

/// Takes the same time wherever the texts differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

/// Keys of a file: one a line; empty lines and those that begin with '#' do not count.
std::vector<std::string> parse_api_keys(std::string_view text);

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_ACCESS_H_
