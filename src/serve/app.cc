#include "serve/app.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "serve/http/message.h"

namespace sotto::serve {
namespace {

/// Names that most clients send whatever is installed.
constexpr std::array<std::string_view, 5> kDefaultNames = {"", "whisper-1", "gpt-4o-transcribe",
                                                           "gpt-4o-mini-transcribe", "default"};

bool means_default(std::string_view name) {
  const std::string lower = to_lower(name);
  return std::find(kDefaultNames.begin(), kDefaultNames.end(), lower) != kDefaultNames.end();
}

std::string names_of(const std::vector<ModelInfo>& models) {
  std::string names;
  for (const ModelInfo& model : models)
    if (model.kind == ModelKind::kWhisper) names += (names.empty() ? "" : ", ") + model.name;
  return names.empty() ? "none" : names;
}

}  // namespace

std::shared_ptr<const ServerOptions> App::options() const {
  const std::lock_guard lock(mutex_);
  return options_;
}

void App::reconfigure(ServerOptions options) {
  engine_.configure(options.engine);
  const std::lock_guard lock(mutex_);
  if (options.model != options_->model) default_model_.reset();
  options_ = std::make_shared<const ServerOptions>(std::move(options));
}

void App::set_default_model(ModelInfo model) {
  const std::lock_guard lock(mutex_);
  default_model_ = std::move(model);
}

Result<ModelInfo> App::default_model() const {
  std::string name;
  {
    const std::lock_guard lock(mutex_);
    if (default_model_) return *default_model_;
    name = options_->model;
  }
  if (!name.empty()) return catalogue_.find(name);
  SOTTO_ASSIGN_OR_RETURN(const std::vector<ModelInfo> installed, catalogue_.installed());
  const ModelInfo* best = nullptr;
  for (const ModelInfo& model : installed) {
    if (model.kind == ModelKind::kWhisper && (best == nullptr || model.rank > best->rank))
      best = &model;
  }
  if (best == nullptr) return not_found("no speech model is installed\nrun: sotto pull base");
  return *best;
}

ModelOrError App::choose_model(std::string_view name) const {
  const auto default_or_error = [this]() -> ModelOrError {
    Result<ModelInfo> model = default_model();
    if (model.ok()) return *model;
    return model_not_found(model.status().message());
  };
  if (means_default(name)) return default_or_error();
  Result<ModelInfo> found = catalogue_.find(name);
  const bool is_speech = found.ok() && found->kind == ModelKind::kWhisper;
  if (is_speech && found->installed) return *found;
  if (options()->lenient_models) return default_or_error();
  if (is_speech) {
    return model_not_found(fmt::format("the model '{}' is not installed; run: sotto pull {}",
                                       found->name, found->name));
  }
  const Result<std::vector<ModelInfo>> installed = catalogue_.installed();
  return model_not_found(
      fmt::format("there is no speech model '{}'; installed: {}", name,
                  installed.ok() ? names_of(*installed) : installed.status().message()));
}

}  // namespace sotto::serve
