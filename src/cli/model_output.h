// Models as text and as JSON, for list, show and pull.
#ifndef SOTTO_CLI_MODEL_OUTPUT_H_
#define SOTTO_CLI_MODEL_OUTPUT_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "sotto/models.h"

namespace sotto::cli {

/// "145.2 MB", or "—" when it is not known.
std::string size_text(int64_t bytes);

/// name, kind, installed, size (null when not known), licence, description, aliases; for installed
/// models also path, source, pulled_at and files.
nlohmann::json model_json(const ModelInfo& model);

/// One line of JSON; bytes that are no UTF-8 become U+FFFD.
std::string json_line(const nlohmann::json& json);

}  // namespace sotto::cli

#endif  // SOTTO_CLI_MODEL_OUTPUT_H_
