// ModelStore: what is there.
#include <algorithm>
#include <filesystem>

#include "base/closest_match.h"
#include "base/log.h"
#include "models/registry/file_lock.h"
#include "models/registry/files.h"
#include "models/registry/identify.h"
#include "models/registry/manifest.h"
#include "models/registry/sha256.h"
#include "models/registry/store_state.h"

namespace sotto {
namespace registry {
namespace {

std::string_view kind_in_words(ModelKind kind) {
  switch (kind) {
    case ModelKind::kWhisper:
      return "speech model";
    case ModelKind::kLlm:
      return "language model";
    case ModelKind::kVad:
      return "voice activity model";
  }
  return "model";
}

/// A folder that the user filled by hand.
Result<ModelInfo> read_without_manifest(const std::string& folder) {
  SOTTO_ASSIGN_OR_RETURN(const ModelKind kind, identify_model(folder));
  ModelInfo info;
  info.name = std::filesystem::path(folder).filename().string();
  info.kind = kind;
  info.installed = true;
  info.path = folder;
  info.source = "put there by hand";
  SOTTO_ASSIGN_OR_RETURN(const std::vector<std::string> names, folder_entries(folder));
  for (const std::string& name : names) {
    const int64_t bytes = file_bytes(folder + "/" + name);
    if (bytes >= 0) info.files.push_back(ModelFile{name, bytes, "", ""});
  }
  info.bytes = tree_bytes(folder);
  return info;
}

ModelInfo info_of(const CatalogueEntry& entry) {
  ModelInfo info;
  info.name = entry.name;
  info.kind = entry.kind;
  info.aliases = entry.aliases;
  info.description = entry.description;
  info.licence = entry.licence;
  info.bytes = entry.bytes();
  info.rank = entry.rank;
  info.in_catalogue = true;
  return info;
}

/// Adds what only the catalogue knows.
void add_catalogue_facts(const CatalogueEntry& entry, ModelInfo& info) {
  info.in_catalogue = true;
  info.aliases = entry.aliases;
  info.rank = entry.rank;
  if (info.description.empty()) info.description = entry.description;
  if (info.licence.empty()) info.licence = entry.licence;
}

bool is_called(const ModelInfo& model, const std::string& normalised) {
  return normalise_name(model.name) == normalised ||
         std::any_of(model.aliases.begin(), model.aliases.end(),
                     [&](const std::string& alias) { return normalise_name(alias) == normalised; });
}

/// The one that is meant: by its exact name, else by any spelling, an installed one first.
const ModelInfo* choose(const std::vector<ModelInfo>& models, std::string_view name) {
  for (const ModelInfo& model : models) {
    if (model.name == name) return &model;
  }
  const std::string normalised = normalise_name(name);
  const ModelInfo* found = nullptr;
  for (const ModelInfo& model : models) {
    if (!is_called(model, normalised)) continue;
    if (model.installed) return &model;
    if (found == nullptr) found = &model;
  }
  return found;
}

Status no_such_model(const std::vector<ModelInfo>& models, std::string_view name) {
  std::vector<std::string> names;
  for (const ModelInfo& model : models) {
    names.push_back(model.name);
    names.insert(names.end(), model.aliases.begin(), model.aliases.end());
  }
  std::string message = "no model is called '" + std::string(name) + "'";
  const std::string meant = closest_match(name, names);
  if (!meant.empty()) message += "; did you mean '" + meant + "'?";
  message += "\n`sotto list` shows the models";
  if (is_hub_repository(name)) {
    message += "; `sotto pull --hf " + std::string(name) + "` takes one from the hub";
  }
  return not_found(std::move(message));
}

Status not_installed(const ModelInfo& model) {
  return not_found("the model '" + model.name + "' is not installed\nsotto pull " + model.name);
}

/// True when the user surely means a file: names of models never look like this.
bool looks_like_path(std::string_view text) {
  return text.starts_with('/') || text.starts_with("./") || text.starts_with("../") ||
         text.starts_with("~/");
}

}  // namespace

Result<ModelInfo> read_installed(const std::string& folder) {
  const Result<Manifest> manifest = read_manifest(folder);
  if (manifest.status().code() == StatusCode::kNotFound) return read_without_manifest(folder);
  if (!manifest.ok()) return manifest.status();
  ModelInfo info;
  info.name = manifest->name;
  info.kind = manifest->kind;
  info.description = manifest->description;
  info.licence = manifest->licence;
  info.source = manifest->source;
  info.pulled_at = manifest->pulled_at;
  info.files = manifest->files;
  info.installed = true;
  info.path = folder;
  info.bytes = 0;
  for (const ModelFile& file : info.files) {
    if (file_bytes(folder + "/" + file.name) != file.bytes) {
      return not_found(folder + ": " + file.name + " is missing or has another size");
    }
    info.bytes += file.bytes;
  }
  return info;
}

std::string_view default_model_name(ModelKind kind) {
  switch (kind) {
    case ModelKind::kWhisper:
      return "base";
    case ModelKind::kLlm:
      return "qwen3:0.6b";
    case ModelKind::kVad:
      return "silero-vad";
  }
  return "base";
}

}  // namespace registry

using registry::CatalogueEntry;

const CatalogueEntry* ModelStore::State::catalogue_entry(std::string_view name) const {
  const std::string normalised = registry::normalise_name(name);
  for (const CatalogueEntry& entry : catalogue) {
    if (registry::normalise_name(entry.name) == normalised) return &entry;
  }
  return nullptr;
}

Result<ModelStore> ModelStore::open_default() {
  SOTTO_ASSIGN_OR_RETURN(const std::string root, registry::default_store_root());
  return open(root);
}

Result<ModelStore> ModelStore::open(const std::string& root) {
  auto state = std::make_shared<State>();
  std::error_code error;
  state->root = std::filesystem::absolute(root, error).lexically_normal().string();
  if (error) return status_from_errno(error.value(), root);
  SOTTO_ASSIGN_OR_RETURN(state->catalogue, registry::load_catalogue());
  SOTTO_ASSIGN_OR_RETURN(state->aliases, registry::load_aliases());
  return ModelStore(std::move(state));
}

const std::string& ModelStore::root() const {
  return state_->root;
}

Result<std::vector<ModelInfo>> ModelStore::installed() const {
  SOTTO_ASSIGN_OR_RETURN(const std::vector<std::string> folders,
                         registry::folder_entries(state_->root + "/models"));
  std::vector<ModelInfo> models;
  for (const std::string& folder : folders) {
    Result<ModelInfo> info = registry::read_installed(state_->root + "/models/" + folder);
    if (!info.ok()) {
      spdlog::warn("{} is not counted as installed: {}", folder, info.status().message());
      continue;
    }
    if (const CatalogueEntry* entry = state_->catalogue_entry(info->name)) {
      registry::add_catalogue_facts(*entry, *info);
    }
    models.push_back(std::move(*info));
  }
  return models;
}

Result<std::vector<ModelInfo>> ModelStore::list() const {
  SOTTO_ASSIGN_OR_RETURN(std::vector<ModelInfo> here, installed());
  std::vector<ModelInfo> models;
  for (const CatalogueEntry& entry : state_->catalogue) {
    const auto found = std::find_if(here.begin(), here.end(), [&entry](const ModelInfo& model) {
      return model.name == entry.name;
    });
    models.push_back(found == here.end() ? registry::info_of(entry) : std::move(*found));
    if (found != here.end()) here.erase(found);
  }
  std::move(here.begin(), here.end(), std::back_inserter(models));
  return models;
}

Result<ModelInfo> ModelStore::find(std::string_view name) const {
  if (registry::means_default_speech_model(name)) {
    Result<ModelInfo> preferred = best(ModelKind::kWhisper);
    return preferred.ok() ? preferred : find(registry::default_model_name(ModelKind::kWhisper));
  }
  const std::string wanted =
      registry::find_alias(state_->aliases, name).value_or(std::string(name));
  SOTTO_ASSIGN_OR_RETURN(const std::vector<ModelInfo> models, list());
  const ModelInfo* found = registry::choose(models, wanted);
  if (found == nullptr) return registry::no_such_model(models, wanted);
  return *found;
}

Result<std::string> ModelStore::resolve(std::string_view name_or_path, ModelKind kind) const {
  const std::string wanted =
      registry::find_alias(state_->aliases, name_or_path).value_or(std::string(name_or_path));
  if (registry::looks_like_path(wanted) && registry::path_exists(wanted)) return wanted;
  const Result<ModelInfo> found = find(wanted);
  if (found.ok() && found->installed) {
    if (found->kind == kind) return found->path;
    return invalid_argument("'" + found->name + "' is a " +
                            std::string(registry::kind_in_words(found->kind)) + ", not a " +
                            std::string(registry::kind_in_words(kind)) +
                            "\n`sotto list` shows which model is which");
  }
  if (registry::path_exists(wanted)) return wanted;
  if (!found.ok()) return found.status();
  return registry::not_installed(*found);
}

Result<ModelInfo> ModelStore::best(ModelKind kind) const {
  SOTTO_ASSIGN_OR_RETURN(const std::vector<ModelInfo> models, installed());
  const ModelInfo* best = nullptr;
  for (const ModelInfo& model : models) {
    if (model.kind != kind) continue;
    if (best == nullptr || model.rank > best->rank) best = &model;
  }
  if (best != nullptr) return *best;
  return not_found("no " + std::string(registry::kind_in_words(kind)) +
                   " is installed\nsotto pull " + std::string(registry::default_model_name(kind)));
}

Status ModelStore::verify(std::string_view name, const std::function<bool()>& should_stop) const {
  SOTTO_ASSIGN_OR_RETURN(const ModelInfo model, find(name));
  if (!model.installed) return registry::not_installed(model);
  for (const ModelFile& file : model.files) {
    if (file.sha256.empty()) {
      return unsupported(model.path + ": was put there by hand; there are no sums to compare with");
    }
    SOTTO_ASSIGN_OR_RETURN(const std::string sum,
                           registry::sha256_of_file(model.path + "/" + file.name, should_stop));
    if (sum != file.sha256) {
      return corrupt(model.path + "/" + file.name + ": has changed: sha256 " + sum +
                     ", installed was " + file.sha256 + "\nsotto remove " + model.name +
                     " && sotto pull " + model.name);
    }
  }
  return {};
}

Result<int64_t> ModelStore::remove(std::string_view name) const {
  SOTTO_ASSIGN_OR_RETURN(const ModelInfo model, find(name));
  const std::string folder = model.installed ? model.path : state_->model_folder(model.name);
  const std::string staging = state_->staging_folder(model.name);
  const int64_t bytes = registry::tree_bytes(folder) + registry::tree_bytes(staging);
  if (!registry::path_exists(folder) && !registry::path_exists(staging)) {
    return registry::not_installed(model).with_context("nothing to remove");
  }
  SOTTO_RETURN_IF_ERROR(registry::make_folders(state_->root + "/locks"));
  const auto never_wait = [] { return true; };
  const Result<registry::FileLock> lock =
      registry::FileLock::acquire(state_->lock_path(model.name), nullptr, never_wait);
  if (lock.status().code() == StatusCode::kCancelled) {
    return unavailable("'" + model.name + "' is being pulled by another process\nstop that first");
  }
  SOTTO_RETURN_IF_ERROR(lock.status());
  // Out of sight in one step, so that nobody sees half a model.
  if (registry::path_exists(folder)) {
    SOTTO_RETURN_IF_ERROR(registry::make_folders(state_->root + "/partial"));
    const std::string doomed = staging + ".removed";
    SOTTO_RETURN_IF_ERROR(registry::remove_tree(doomed));
    SOTTO_RETURN_IF_ERROR(registry::rename_path(folder, doomed));
    SOTTO_RETURN_IF_ERROR(registry::remove_tree(doomed));
  }
  SOTTO_RETURN_IF_ERROR(registry::remove_tree(staging));
  return bytes;
}

}  // namespace sotto
