// sotto pull: brings models into the store.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/pull_display.h"
#include "cli/terminal.h"

namespace sotto::cli {
namespace {

struct Options {
  std::vector<std::string> models;
  std::string hub, revision, name;
  bool json = false;
  bool quiet = false;
  bool no_vad = false;
};

/// A name of the catalogue, or a file or folder of this machine. A name wins unless a '/' says that
/// a path is meant.
PullRequest request_for(const std::string& text, const Options& options, const ModelStore& store) {
  PullRequest request;
  request.name = text;
  std::error_code error;
  const bool exists = std::filesystem::exists(text, error);
  const bool is_path = text.find('/') != std::string::npos;
  if (!exists || (!is_path && store.find(text).ok())) return request;
  request.name = options.name;
  request.path = text;
  return request;
}

Result<std::vector<PullRequest>> requests_for(const Options& options, const ModelStore& store) {
  std::vector<PullRequest> requests;
  if (!options.hub.empty()) {
    if (!options.models.empty()) {
      return invalid_argument("--hf and a model's name do not go together\ngive one of them");
    }
    PullRequest request;
    request.hub = options.hub;
    request.revision = options.revision;
    request.name = options.name;
    return std::vector<PullRequest>{request};
  }
  if (options.models.empty()) {
    return invalid_argument(
        "no model was named\n`sotto list` shows what there is; e.g. sotto pull base");
  }
  for (const std::string& model : options.models) {
    requests.push_back(request_for(model, options, store));
  }
  const bool is_one_path = requests.size() == 1 && !requests.front().path.empty();
  if (!options.name.empty() && !is_one_path) {
    return invalid_argument("--name goes with one file or folder, or with --hf");
  }
  if (!options.revision.empty()) return invalid_argument("--revision goes with --hf");
  return requests;
}

PullStyle style_for(const Options& options) {
  if (options.json) return PullStyle::kJson;
  if (options.quiet) return PullStyle::kQuiet;
  return is_terminal(stderr) ? PullStyle::kBar : PullStyle::kLines;
}

int pull_one(const PullRequest& request, const Options& options, const ModelStore& store) {
  const std::string title = !request.hub.empty()    ? request.hub
                            : !request.path.empty() ? request.path
                                                    : request.name;
  PullDisplay display(style_for(options), printable(title));
  PullOptions pull;
  pull.with_vad = !options.no_vad;
  pull.on_progress = [&display](const PullProgress& progress) { display.show(progress); };
  pull.on_warning = [&display](const std::string& text) { display.warn(text); };
  pull.should_stop = [&display] { return interrupted() || !display.output_status().ok(); };
  const Result<PullResult> result = store.pull(request, pull);
  display.finish(result);
  if (!display.output_status().ok()) return report(display.output_status(), kExitProcessing);
  return report(result.status(), kExitModel);
}

int run_pull(const Options& options) {
  const Result<ModelStore> store = ModelStore::open_default();
  if (!store.ok()) return report(store.status(), kExitModel);
  const Result<std::vector<PullRequest>> requests = requests_for(options, *store);
  if (!requests.ok()) return report(requests.status(), kExitUsage);
  int worst = kExitOk;
  for (const PullRequest& request : *requests) {
    worst = std::max(worst, pull_one(request, options, *store));
    if (interrupted() || stdout_closed()) break;
  }
  return worst;
}

}  // namespace

void register_pull(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App& app = program.add_command("pull", "Download models, or take in files of this machine",
                                      [options] { return run_pull(*options); });
  app.add_option("MODEL", options->models, "Names (see `sotto list`), or a file or folder");
  app.add_option("--hf", options->hub, "A repository of the hub: OWNER/NAME or OWNER/NAME:FILE")
      ->type_name("REPO");
  app.add_option("--revision", options->revision, "Branch, tag or commit for --hf")
      ->type_name("REV");
  app.add_option("--name", options->name, "Install a file, folder or --hf model under this name")
      ->type_name("NAME");
  app.add_flag("--no-vad", options->no_vad,
               "Do not pull the voice activity detector with the first speech model");
  app.add_flag("-j,--json", options->json,
               "Progress as JSON lines in the shape of Ollama's /api/pull");
  app.add_flag("-q,--quiet", options->quiet, "Print only warnings and errors");
}

}  // namespace sotto::cli
