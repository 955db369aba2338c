#include "models/registry/manifest.h"

#include <nlohmann/json.hpp>

#include "models/registry/files.h"
#include "models/registry/names.h"
#include "models/registry/sha256.h"

namespace sotto::registry {
namespace {

using Json = nlohmann::json;

std::string text_member(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

Result<ModelFile> parse_file(const Json& json, const std::string& origin) {
  ModelFile file;
  if (json.is_object()) {
    file.name = text_member(json, "name");
    file.sha256 = text_member(json, "sha256");
    file.hash_from = text_member(json, "hash_from");
    const auto bytes = json.find("bytes");
    if (bytes != json.end() && bytes->is_number_integer()) file.bytes = bytes->get<int64_t>();
  }
  if (!is_plain_file_name(file.name) || !is_sha256_hex(file.sha256) || file.bytes < 0) {
    return corrupt(origin + ": a file without a usable name, size and sha256");
  }
  return file;
}

}  // namespace

std::string write_manifest(const Manifest& manifest) {
  Json files = Json::array();
  for (const ModelFile& file : manifest.files) {
    files.push_back({{"name", file.name},
                     {"bytes", file.bytes},
                     {"sha256", file.sha256},
                     {"hash_from", file.hash_from}});
  }
  const Json document = {{"name", manifest.name},
                         {"kind", model_kind_name(manifest.kind)},
                         {"description", manifest.description},
                         {"licence", manifest.licence},
                         {"source", manifest.source},
                         {"pulled_at", manifest.pulled_at},
                         {"files", std::move(files)}};
  // Names and sources come from outside; bytes that are no UTF-8 must not throw.
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Manifest> parse_manifest(std::string_view json, std::string_view origin) {
  const std::string where(origin);
  const Json document = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return corrupt(where + ": not a manifest");
  Manifest manifest;
  manifest.name = text_member(document, "name");
  manifest.description = text_member(document, "description");
  manifest.licence = text_member(document, "licence");
  manifest.source = text_member(document, "source");
  manifest.pulled_at = text_member(document, "pulled_at");
  const Result<ModelKind> kind = parse_model_kind(text_member(document, "kind"));
  if (!is_model_name(manifest.name) || !kind.ok()) {
    return corrupt(where + ": a manifest without a usable name and kind");
  }
  manifest.kind = *kind;
  const auto files = document.find("files");
  if (files == document.end() || !files->is_array() || files->empty()) {
    return corrupt(where + ": a manifest without files");
  }
  for (const Json& file : *files) {
    SOTTO_ASSIGN_OR_RETURN(manifest.files.emplace_back(), parse_file(file, where));
  }
  return manifest;
}

Result<Manifest> read_manifest(const std::string& folder) {
  constexpr int64_t kLargestManifest = int64_t{4} << 20;
  const std::string path = folder + "/" + std::string(kManifestName);
  SOTTO_ASSIGN_OR_RETURN(const std::string text, read_text_file(path, kLargestManifest));
  return parse_manifest(text, path);
}

}  // namespace sotto::registry
