// Requests and responses as handlers see them, free of any library's types.
#ifndef SOTTO_SERVE_HTTP_MESSAGE_H_
#define SOTTO_SERVE_HTTP_MESSAGE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sotto::serve {

/// Header fields in order; names compare without regard to case.
class Headers {
 public:
  void add(std::string name, std::string value) {
    fields_.emplace_back(std::move(name), std::move(value));
  }
  /// In place of all of that name.
  void set(std::string_view name, std::string value);
  /// The first of that name, or "".
  [[nodiscard]] std::string_view get(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const;

  [[nodiscard]] auto begin() const { return fields_.begin(); }
  [[nodiscard]] auto end() const { return fields_.end(); }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

struct Request {
  std::string method;  ///< "GET"
  std::string target;  ///< As it was sent
  std::string path;    ///< Of the target, percent-decoded; the part before '?'
  std::map<std::string, std::string, std::less<>> query;
  Headers headers;
  std::string id;      ///< The caller's X-Request-Id, or one of ours
  std::string remote;  ///< Address of the client, for logs
  std::optional<uint64_t> content_length;
  bool wants_websocket = false;
};

struct Response {
  int status = 200;
  std::string content_type;
  std::string body;
  Headers headers;
};

/// Parts of a target: fills path and query. False when the escapes are broken or it does not begin
/// with '/'.
bool parse_target(std::string_view target, Request& request);

/// "a%20b" -> "a b"; nothing for a broken escape. `plus_is_space`: as in forms and queries.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space);

/// Fields of a query string or of a form; broken escapes make the field vanish.
std::vector<std::pair<std::string, std::string>> parse_urlencoded(std::string_view text);

/// ASCII letters compared without case.
bool equals_ignoring_case(std::string_view a, std::string_view b);
std::string to_lower(std::string_view text);

/// "form-data; name=\"file\"; filename=\"a b\"" as the value and its parameters (names in lower
/// case). Backslash escapes only '"' and '\' inside quotes.
struct ParameterisedValue {
  std::string value;  ///< Lower case
  std::map<std::string, std::string, std::less<>> parameters;
};
ParameterisedValue parse_parameterised(std::string_view text);

/// "Not Found".
std::string_view reason_phrase(int status);

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_HTTP_MESSAGE_H_
