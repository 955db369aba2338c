#include "serve/http/message.h"

#include <algorithm>

namespace sotto::serve {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char l = lower(c);
  return l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

/// Reads one value of a parameter at the front of `text` and takes it off, with what follows up to
/// the next ';'.
std::string take_parameter_value(std::string_view& text) {
  std::string value;
  if (text.empty() || text.front() != '"') {
    const size_t end = std::min(text.find(';'), text.size());
    value = trim(text.substr(0, end));
    text.remove_prefix(end);
    return value;
  }
  size_t i = 1;
  for (; i < text.size() && text[i] != '"'; ++i) {
    const bool escapes =
        text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\');
    if (escapes) ++i;
    value += text[i];
  }
  text.remove_prefix(std::min(text.find(';', i), text.size()));
  return value;
}

}  // namespace

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

void Headers::set(std::string_view name, std::string value) {
  std::erase_if(fields_,
                [&](const auto& field) { return equals_ignoring_case(field.first, name); });
  fields_.emplace_back(name, std::move(value));
}

std::string_view Headers::get(std::string_view name) const {
  for (const auto& [field, value] : fields_)
    if (equals_ignoring_case(field, name)) return value;
  return {};
}

bool Headers::has(std::string_view name) const {
  return std::any_of(fields_.begin(), fields_.end(),
                     [&](const auto& field) { return equals_ignoring_case(field.first, name); });
}

std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> parse_urlencoded(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> fields;
  while (!text.empty()) {
    const size_t end = std::min(text.find('&'), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (part.empty()) continue;
    const size_t equals = std::min(part.find('='), part.size());
    auto name = percent_decode(part.substr(0, equals), true);
    auto value = percent_decode(part.substr(std::min(equals + 1, part.size())), true);
    if (name && value) fields.emplace_back(std::move(*name), std::move(*value));
  }
  return fields;
}

bool parse_target(std::string_view target, Request& request) {
  request.target = target;
  // Proxies' absolute form: what counts is the path.
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (target.substr(0, scheme.size()) != scheme) continue;
    const size_t slash = target.find('/', scheme.size());
    target = slash == std::string_view::npos ? std::string_view("/") : target.substr(slash);
  }
  if (target == "*") {
    request.path = "*";
    return true;
  }
  if (target.empty() || target.front() != '/') return false;
  target = target.substr(0, target.find('#'));
  const size_t question = std::min(target.find('?'), target.size());
  auto path = percent_decode(target.substr(0, question), false);
  if (!path || path->find('\0') != std::string::npos) return false;
  request.path = std::move(*path);
  if (question < target.size()) {
    for (auto& [name, value] : parse_urlencoded(target.substr(question + 1)))
      request.query[name] = value;
  }
  return true;
}

ParameterisedValue parse_parameterised(std::string_view text) {
  ParameterisedValue result;
  const size_t end = std::min(text.find(';'), text.size());
  result.value = to_lower(trim(text.substr(0, end)));
  text.remove_prefix(end);
  while (!text.empty()) {
    text.remove_prefix(1);  // ';'
    const size_t stop = std::min(text.find_first_of("=;"), text.size());
    const std::string name = to_lower(trim(text.substr(0, stop)));
    text.remove_prefix(stop);
    if (text.empty() || text.front() == ';') continue;
    text.remove_prefix(1);  // '='
    const size_t value_begin = std::min(text.find_first_not_of(" \t"), text.size());
    text.remove_prefix(value_begin);
    std::string value = take_parameter_value(text);
    if (!name.empty()) result.parameters.emplace(name, std::move(value));
  }
  return result;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 101:
      return "Switching Protocols";
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Payload Too Large";
    case 415:
      return "Unsupported Media Type";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Status";
  }
}

}  // namespace sotto::serve
