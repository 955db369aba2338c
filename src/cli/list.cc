// sotto list: the models there are, and which of them are installed.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/model_output.h"
#include "cli/output.h"
#include "cli/terminal.h"

namespace sotto::cli {
namespace {

struct Options {
  std::string filter = "all";
  bool json = false;
  bool quiet = false;
};

/// Columns that a text takes, one per UTF-8 character.
size_t columns(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  }));
}

std::string padded(const std::string& text, size_t width) {
  return text + std::string(width - std::min(width, columns(text)), ' ');
}

std::string table(const std::vector<ModelInfo>& models) {
  size_t name_width = 4, licence_width = 7;
  for (const ModelInfo& model : models) {
    name_width = std::max(name_width, columns(model.name));
    licence_width = std::max(licence_width, columns(printable(model.licence)));
  }
  const auto row = [&](const std::string& name, const std::string& kind, const std::string& size,
                       const std::string& state, const std::string& licence,
                       const std::string& description) {
    const std::string right_size = std::string(9 - std::min<size_t>(9, columns(size)), ' ') + size;
    return padded(name, name_width) + "  " + padded(kind, 7) + "  " + right_size + "  " +
           padded(state, 9) + "  " + padded(licence, licence_width) + "  " + description + "\n";
  };
  std::string text = row("NAME", "KIND", "SIZE", "STATE", "LICENCE", "DESCRIPTION");
  for (const ModelInfo& model : models) {
    text += row(model.name, std::string(model_kind_name(model.kind)), size_text(model.bytes),
                model.installed ? "installed" : "available", printable(model.licence),
                printable(model.description));
  }
  return text;
}

std::string render(const std::vector<ModelInfo>& models, const Options& options) {
  if (options.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const ModelInfo& model : models)
      list.push_back(model_json(model));
    return json_line({{"models", std::move(list)}});
  }
  if (!options.quiet) return table(models);
  std::string names;
  for (const ModelInfo& model : models)
    names += model.name + "\n";
  return names;
}

int run_list(const Options& options) {
  const Result<ModelStore> store = ModelStore::open_default();
  if (!store.ok()) return report(store.status(), kExitModel);
  Result<std::vector<ModelInfo>> models = store->list();
  if (!models.ok()) return report(models.status(), kExitModel);
  std::erase_if(*models, [&options](const ModelInfo& model) {
    return (options.filter == "installed" && !model.installed) ||
           (options.filter == "not-installed" && model.installed);
  });
  return report(write_stdout(render(*models, options)), kExitProcessing);
}

}  // namespace

void register_list(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App& app = program.add_command("list", "Show the models there are and which are installed",
                                      [options] { return run_list(*options); });
  program.add_alias("list", "ls");
  app.add_option("--filter", options->filter, "all, installed or not-installed")
      ->check(CLI::IsMember({"all", "installed", "not-installed"}))
      ->type_name("WHICH");
  app.add_flag("-j,--json", options->json, "As a JSON object: {\"models\": [...]}");
  app.add_flag("-q,--quiet", options->quiet, "Names only");
}

}  // namespace sotto::cli
