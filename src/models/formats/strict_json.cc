#include "models/formats/strict_json.h"

#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "models/formats/tensor_index.h"

namespace sotto::models {

Result<nlohmann::json> parse_strict_json(std::string_view text) {
  using nlohmann::json;
  if (text.size() > kMaxStrictJsonBytes) {
    return corrupt("JSON text of " + std::to_string(text.size()) + " bytes (the limit is " +
                   std::to_string(kMaxStrictJsonBytes) + ")");
  }
  bool too_deep = false;
  std::string repeated;
  std::vector<std::set<std::string>> keys;  // of the innermost object at each depth
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    // What is too deep is not kept, so that a hostile text costs no memory.
    if (depth > kMaxJsonDepth) {
      too_deep = true;
      return false;
    }
    const auto level = static_cast<size_t>(depth);
    if (event == json::parse_event_t::object_start) {
      keys.resize(level + 1);
      keys[level].clear();
    } else if (event == json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys[level - 1].insert(key).second && repeated.empty()) repeated = key;
    }
    return true;
  };
  const Status deep_error =
      corrupt("JSON nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
  try {
    json value = json::parse(text.begin(), text.end(), watch);
    if (too_deep) return deep_error;
    if (!repeated.empty()) return corrupt("JSON object with two keys " + printable(repeated));
    return value;
  } catch (const json::parse_error& error) {
    if (too_deep) return deep_error;
    return corrupt("not valid JSON at byte " + std::to_string(error.byte));
  } catch (const json::exception& error) {
    return corrupt(std::string("not valid JSON: ") + error.what());
  }
}

}  // namespace sotto::models
