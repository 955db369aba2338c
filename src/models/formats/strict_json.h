// JSON that says where a model's bytes lie.
#ifndef SOTTO_MODELS_FORMATS_STRICT_JSON_H_
#define SOTTO_MODELS_FORMATS_STRICT_JSON_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

#include "sotto/status.h"

namespace sotto::models {

/// Longest text that parse_strict_json() takes; the parsed value needs up to 16 times as much
/// memory.
inline constexpr size_t kMaxStrictJsonBytes = size_t{32} << 20;

/// As base's parse_json(), but an object with a repeated key is kCorrupt, too (which of the two
/// values another program would use is anybody's guess), and messages give the byte of a syntax
/// error.
Result<nlohmann::json> parse_strict_json(std::string_view text);

}  // namespace sotto::models

#endif  // SOTTO_MODELS_FORMATS_STRICT_JSON_H_
