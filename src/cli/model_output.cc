#include "cli/model_output.h"

#include "models/registry/files.h"

namespace sotto::cli {

using Json = nlohmann::json;

std::string size_text(int64_t bytes) {
  return bytes < 0 ? "—" : registry::format_bytes(bytes);
}

Json model_json(const ModelInfo& model) {
  Json json = {
      {"name", model.name},           {"kind", model_kind_name(model.kind)},
      {"installed", model.installed}, {"size", model.bytes < 0 ? Json(nullptr) : Json(model.bytes)},
      {"licence", model.licence},     {"description", model.description},
      {"aliases", model.aliases}};
  if (!model.installed) return json;
  json["path"] = model.path;
  json["source"] = model.source;
  json["pulled_at"] = model.pulled_at;
  json["files"] = Json::array();
  for (const ModelFile& file : model.files) {
    json["files"].push_back({{"name", file.name},
                             {"size", file.bytes},
                             {"sha256", file.sha256},
                             {"hash_from", file.hash_from}});
  }
  return json;
}

std::string json_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sotto::cli
