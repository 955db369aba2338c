#include "base/json.h"

#include <string>

namespace sotto {
namespace {

/// Nesting depth of `text` where it is well-formed; an upper bound elsewhere.
int json_depth(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > deepest) deepest = depth;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

Result<nlohmann::json> parse_json(std::string_view text, std::string_view what) {
  if (json_depth(text) > kMaxJsonDepth) {
    return corrupt(std::string(what) + ": JSON nested deeper than " +
                   std::to_string(kMaxJsonDepth) + " levels");
  }
  auto value = nlohmann::json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return corrupt(std::string(what) + " is not valid JSON");
  return value;
}

const nlohmann::json* json_member(const nlohmann::json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

const std::string* json_string(const nlohmann::json& object, std::string_view name) {
  const nlohmann::json* member = json_member(object, name);
  return member == nullptr ? nullptr : member->get_ptr<const std::string*>();
}

}  // namespace sotto
