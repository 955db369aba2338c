// Inside of ModelStore, shared by store.cc and pull.cc.
#ifndef SOTTO_MODELS_REGISTRY_STORE_STATE_H_
#define SOTTO_MODELS_REGISTRY_STORE_STATE_H_

#include <string>
#include <string_view>
#include <vector>

#include "models/registry/catalogue.h"
#include "models/registry/names.h"
#include "sotto/models.h"
#include "sotto/status.h"

namespace sotto {

/// The store's folder:
///   models/NAME/    an installed model with its manifest
///   partial/NAME/   a pull under way or interrupted
///   locks/NAME.lock held by the process that pulls or removes NAME
struct ModelStore::State {
  std::string root;
  std::vector<registry::CatalogueEntry> catalogue;
  registry::Aliases aliases;

  [[nodiscard]] std::string model_folder(std::string_view name) const {
    return root + "/models/" + registry::folder_name(name);
  }
  [[nodiscard]] std::string staging_folder(std::string_view name) const {
    return root + "/partial/" + registry::folder_name(name);
  }
  [[nodiscard]] std::string lock_path(std::string_view name) const {
    return root + "/locks/" + registry::folder_name(name) + ".lock";
  }
  [[nodiscard]] const registry::CatalogueEntry* catalogue_entry(std::string_view name) const;
};

namespace registry {

/// The model in a folder of the store; kNotFound when there is none or when files are missing.
Result<ModelInfo> read_installed(const std::string& folder);

/// The model to pull when no name is given: "base", …
std::string_view default_model_name(ModelKind kind);

}  // namespace registry
}  // namespace sotto

#endif  // SOTTO_MODELS_REGISTRY_STORE_STATE_H_
