#include "models/registry/catalogue.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "models/registry/files.h"
#include "models/registry/names.h"
#include "models/registry/sha256.h"

namespace sotto::registry {
namespace {

using Json = nlohmann::json;

/// Reads members of one JSON object; the first fault is kept with the object's name.
class ObjectReader {
 public:
  ObjectReader(const Json& object, std::string context)
      : object_(object), context_(std::move(context)) {
    if (!object_.is_object()) fail("is not an object");
  }

  std::string text(const char* key, bool required) {
    const Json* value = member(key, required);
    if (value == nullptr) return "";
    if (!value->is_string()) return fail(std::string(key) + " is not a string"), "";
    std::string result = value->get<std::string>();
    if (required && result.empty()) fail(std::string(key) + " is empty");
    return result;
  }

  int64_t integer(const char* key, int64_t otherwise) {
    const Json* value = member(key, false);
    if (value == nullptr) return otherwise;
    if (!value->is_number_integer())
      return fail(std::string(key) + " is not an integer"), otherwise;
    return value->get<int64_t>();
  }

  bool boolean(const char* key) {
    const Json* value = member(key, false);
    if (value == nullptr) return false;
    if (!value->is_boolean()) return fail(std::string(key) + " is not true or false"), false;
    return value->get<bool>();
  }

  const Json& list(const char* key, bool required) {
    static const Json kEmpty = Json::array();
    const Json* value = member(key, required);
    if (value == nullptr) return kEmpty;
    if (!value->is_array()) return fail(std::string(key) + " is not a list"), kEmpty;
    if (required && value->empty()) fail(std::string(key) + " is empty");
    return *value;
  }

  void fail(const std::string& what) {
    if (status_.ok()) status_ = invalid_argument(context_ + ": " + what);
  }
  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] bool has(const char* key) const {
    return object_.is_object() && object_.contains(key);
  }
  [[nodiscard]] const std::string& context() const { return context_; }

 private:
  const Json* member(const char* key, bool required) {
    if (!has(key)) {
      if (required) fail(std::string(key) + " is missing");
      return nullptr;
    }
    return &object_[key];
  }

  const Json& object_;
  std::string context_;
  Status status_;
};

Result<WheelMember> parse_part(const Json& json, const std::string& context) {
  ObjectReader reader(json, context + ", part");
  WheelMember part;
  part.package = reader.text("package", true);
  part.version = reader.text("version", true);
  part.member = reader.text("member", true);
  // Both go onto pip's command line; a leading '-' would be an option there.
  if (part.package.starts_with('-')) reader.fail("package is not a package name");
  SOTTO_RETURN_IF_ERROR(reader.status());
  return part;
}

Result<SourceFile> parse_file(const Json& json, Source::Kind kind, const std::string& context) {
  ObjectReader reader(json, context);
  SourceFile file;
  file.name = reader.text("name", true);
  file.path = reader.text("path", false);
  if (file.path.empty()) file.path = file.name;
  file.bytes = reader.integer("bytes", -1);
  file.sha256 = reader.text("sha256", false);
  file.optional = reader.boolean("optional");
  if (!is_plain_file_name(file.name)) reader.fail("'" + file.name + "' is not a plain file name");
  if (!file.sha256.empty() && !is_sha256_hex(file.sha256)) {
    reader.fail(file.name + ": sha256 is not 64 lower-case hex digits");
  }
  if (file.bytes < -1) reader.fail(file.name + ": bytes is negative");
  for (const Json& part : reader.list("parts", kind == Source::Kind::kPyPi)) {
    SOTTO_ASSIGN_OR_RETURN(file.parts.emplace_back(), parse_part(part, context));
  }
  SOTTO_RETURN_IF_ERROR(reader.status());
  return file;
}

Result<Source> parse_source(const Json& json, const std::string& context) {
  ObjectReader reader(json, context);
  Source source;
  const int kinds =
      (reader.has("hub") ? 1 : 0) + (reader.has("url") ? 1 : 0) + (reader.has("pypi") ? 1 : 0);
  if (kinds != 1) reader.fail("a source has exactly one of hub, url and pypi");
  if (reader.has("hub")) {
    source.where = reader.text("hub", true);
    source.revision = reader.text("revision", false);
    if (source.revision.empty()) source.revision = "main";
    if (!is_hub_repository(source.where)) reader.fail("hub is not of the form OWNER/NAME");
  } else if (reader.has("url")) {
    source.kind = Source::Kind::kUrl;
    source.where = reader.text("url", true);
    if (!source.where.starts_with("https://") && !source.where.starts_with("http://")) {
      reader.fail("url does not begin with https://");
    }
  } else {
    source.kind = Source::Kind::kPyPi;
  }
  for (const Json& file : reader.list("files", true)) {
    SOTTO_ASSIGN_OR_RETURN(source.files.emplace_back(), parse_file(file, source.kind, context));
  }
  SOTTO_RETURN_IF_ERROR(reader.status());
  return source;
}

Result<CatalogueEntry> parse_entry(const Json& json, const std::string& origin) {
  ObjectReader reader(json, origin);
  CatalogueEntry entry;
  entry.name = reader.text("name", true);
  SOTTO_RETURN_IF_ERROR(reader.status());
  const std::string context = origin + ": model '" + entry.name + "'";
  if (!is_model_name(entry.name)) return invalid_argument(context + ": not a usable name");
  const std::string kind = reader.text("kind", true);
  SOTTO_ASSIGN_OR_RETURN(entry.kind, parse_model_kind(kind));
  for (const Json& alias : reader.list("aliases", false)) {
    if (!alias.is_string()) return invalid_argument(context + ": an alias is not a string");
    entry.aliases.push_back(alias.get<std::string>());
  }
  entry.description = reader.text("description", false);
  entry.licence = reader.text("licence", false);
  entry.rank = static_cast<int>(reader.integer("rank", 0));
  for (const Json& source : reader.list("sources", true)) {
    SOTTO_ASSIGN_OR_RETURN(entry.sources.emplace_back(), parse_source(source, context));
  }
  SOTTO_RETURN_IF_ERROR(reader.status());
  return entry;
}

/// The user's catalogue file, or "" when there is none.
Result<std::string> user_catalogue_path() {
  if (const char* path = std::getenv("SOTTO_CATALOGUE"); path != nullptr && *path != '\0') {
    return std::string(path);
  }
  const std::string path = config_folder() + "/catalogue.json";
  return path_exists(path) ? path : std::string();
}

}  // namespace

std::string describe(const Source& source) {
  switch (source.kind) {
    case Source::Kind::kHub:
      return "hub " + source.where;
    case Source::Kind::kUrl:
      return source.where;
    case Source::Kind::kPyPi:
      break;
  }
  const std::vector<WheelMember>& parts = source.files.front().parts;
  return parts.empty() ? "PyPI" : "PyPI " + parts.front().package;
}

int64_t CatalogueEntry::bytes() const {
  int64_t sum = 0;
  for (const SourceFile& file : sources.front().files) {
    if (file.optional && file.bytes < 0) continue;
    if (file.bytes < 0) return -1;
    sum = add_bytes(sum, file.bytes);
  }
  return sum;
}

Result<std::vector<CatalogueEntry>> parse_catalogue(std::string_view json,
                                                    std::string_view origin) {
  const std::string name(origin);
  const Json document = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return invalid_argument(name + ": not valid JSON");
  ObjectReader reader(document, name);
  std::vector<CatalogueEntry> entries;
  for (const Json& entry : reader.list("models", true)) {
    SOTTO_ASSIGN_OR_RETURN(entries.emplace_back(), parse_entry(entry, name));
  }
  SOTTO_RETURN_IF_ERROR(reader.status());
  return entries;
}

Result<std::vector<CatalogueEntry>> load_catalogue() {
  SOTTO_ASSIGN_OR_RETURN(std::vector<CatalogueEntry> entries,
                         parse_catalogue(builtin_catalogue_json(), "the built-in catalogue"));
  SOTTO_ASSIGN_OR_RETURN(const std::string path, user_catalogue_path());
  if (path.empty()) return entries;
  constexpr int64_t kLargestCatalogue = int64_t{16} << 20;
  SOTTO_ASSIGN_OR_RETURN(const std::string text, read_text_file(path, kLargestCatalogue));
  SOTTO_ASSIGN_OR_RETURN(std::vector<CatalogueEntry> own, parse_catalogue(text, path));
  for (CatalogueEntry& entry : own) {
    bool replaced = false;
    for (CatalogueEntry& builtin : entries) {
      if (builtin.name != entry.name) continue;
      builtin = entry;
      replaced = true;
    }
    if (!replaced) entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace sotto::registry
