// sotto show: everything known of one model.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/model_output.h"
#include "cli/output.h"
#include "cli/terminal.h"

namespace sotto::cli {
namespace {

struct Options {
  std::string name;
  bool json = false;
  bool path = false;
  bool verify = false;
};

std::string details(const ModelInfo& model) {
  std::string text;
  const auto line = [&text](std::string_view key, const std::string& value) {
    if (!value.empty()) text += fmt::format("{:<12} {}\n", key, printable(value));
  };
  line("name", model.name);
  line("kind", std::string(model_kind_name(model.kind)));
  line("description", model.description);
  line("aliases", fmt::format("{}", fmt::join(model.aliases, ", ")));
  line("licence", model.licence);
  text += fmt::format("{:<12} {}\n", "size", size_text(model.bytes));
  line("state", model.installed ? "installed" : "available: sotto pull " + model.name);
  line("folder", model.path);
  line("source", model.source);
  line("pulled at", model.pulled_at);
  for (const ModelFile& file : model.files) {
    line("file", fmt::format("{}  {}  {}{}", file.name, size_text(file.bytes),
                             file.sha256.empty() ? "" : "sha256 " + file.sha256,
                             file.hash_from.empty() ? "" : " (" + file.hash_from + ")"));
  }
  return text;
}

Status not_installed(const ModelInfo& model) {
  return not_found("the model '" + model.name + "' is not installed\nsotto pull " + model.name);
}

int run_show(const Options& options) {
  const Result<ModelStore> store = ModelStore::open_default();
  if (!store.ok()) return report(store.status(), kExitModel);
  const Result<ModelInfo> model = store->find(options.name);
  if (!model.ok()) return report(model.status(), kExitModel);
  if (options.path) {
    if (!model->installed) return report(not_installed(*model), kExitModel);
    return report(write_stdout(model->path + "\n"), kExitProcessing);
  }
  if (options.verify) {
    const Status status = store->verify(model->name, interrupted);
    if (!status.ok()) return report(status, kExitModel);
  }
  std::string text = options.json ? json_line(model_json(*model)) : details(*model);
  if (options.verify && !options.json) {
    text += fmt::format("{:<12} every file is what was installed\n", "verified");
  }
  return report(write_stdout(text), kExitProcessing);
}

}  // namespace

void register_show(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App& app = program.add_command("show", "Show everything known of one model",
                                      [options] { return run_show(*options); });
  app.add_option("MODEL", options->name, "Name of the model")->required();
  app.add_flag("-j,--json", options->json, "As a JSON object");
  app.add_flag("--path", options->path, "Print only the folder of an installed model");
  app.add_flag("--verify", options->verify, "Read every file again and compare its sha256");
}

}  // namespace sotto::cli
