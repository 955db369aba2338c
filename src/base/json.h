// Parsing of JSON from outside without exceptions and without trust.
#ifndef SOTTO_BASE_JSON_H_
#define SOTTO_BASE_JSON_H_

#include <nlohmann/json.hpp>
#include <string_view>

#include "sotto/status.h"

namespace sotto {

/// Deepest nesting that parse_json() takes; no file that sotto reads comes near.
inline constexpr int kMaxJsonDepth = 64;

/// The value of a whole JSON text (valid UTF-8, no comments). kCorrupt on a syntax error or deeper
/// nesting than kMaxJsonDepth; `what` names the text in messages.
Result<nlohmann::json> parse_json(std::string_view text, std::string_view what);

/// The member of `object`, or null when `object` is no object or has no such member.
const nlohmann::json* json_member(const nlohmann::json& object, std::string_view name);

/// The string member of `object`, or null when there is none of that name and type.
const std::string* json_string(const nlohmann::json& object, std::string_view name);

}  // namespace sotto

#endif  // SOTTO_BASE_JSON_H_
