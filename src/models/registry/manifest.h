// What was installed: one manifest.json in each model's folder.
#ifndef SOTTO_MODELS_REGISTRY_MANIFEST_H_
#define SOTTO_MODELS_REGISTRY_MANIFEST_H_

#include <string>
#include <string_view>
#include <vector>

#include "sotto/models.h"
#include "sotto/status.h"

namespace sotto::registry {

inline constexpr std::string_view kManifestName = "sotto-manifest.json";

struct Manifest {
  std::string name;
  ModelKind kind = ModelKind::kWhisper;
  std::string description, licence, source;
  std::string pulled_at;  ///< RFC 3339, UTC
  std::vector<ModelFile> files;
};

std::string write_manifest(const Manifest& manifest);

/// kCorrupt when the text is not a manifest; `origin` names it in the message.
Result<Manifest> parse_manifest(std::string_view json, std::string_view origin);

/// The manifest of a model's folder. A folder without one gives kNotFound.
Result<Manifest> read_manifest(const std::string& folder);

}  // namespace sotto::registry

#endif  // SOTTO_MODELS_REGISTRY_MANIFEST_H_
