// JSON from outside, parsed within limits: no exceptions, no unbounded nesting, no repeated keys.
#ifndef SOTTO_MODELS_FORMATS_JSON_TEXT_H_
#define SOTTO_MODELS_FORMATS_JSON_TEXT_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

#include "sotto/status.h"

namespace sotto::models {

struct JsonLimits {
  size_t bytes = size_t{32} << 20;  ///< Parsed values take up to 16 times that in memory
  int depth = 16;
};

/// The value in `text`. kCorrupt with the byte offset when it is no JSON, nested deeper than
/// allowed, or when an object has a key twice (which program would use which value is anybody's
/// guess).
Result<nlohmann::json> parse_json(std::string_view text, const JsonLimits& limits = {});

}  // namespace sotto::models

#endif  // SOTTO_MODELS_FORMATS_JSON_TEXT_H_
