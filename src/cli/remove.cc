// sotto remove: deletes installed models.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/model_output.h"
#include "cli/output.h"

namespace sotto::cli {
namespace {

int remove_one(const std::string& name, const ModelStore& store) {
  const Result<int64_t> freed = store.remove(name);
  if (!freed.ok()) return report(freed.status(), kExitModel);
  const std::string text = fmt::format("{}: removed ({} freed)\n", name, size_text(*freed));
  return report(write_stdout(text), kExitProcessing);
}

}  // namespace

void register_remove(Program& program) {
  auto names = std::make_shared<std::vector<std::string>>();
  CLI::App& app = program.add_command("remove", "Delete installed models", [names] {
    const Result<ModelStore> store = ModelStore::open_default();
    if (!store.ok()) return report(store.status(), kExitModel);
    int worst = kExitOk;
    for (const std::string& name : *names)
      worst = std::max(worst, remove_one(name, *store));
    return worst;
  });
  program.add_alias("remove", "rm");
  app.add_option("MODEL", *names, "Names of the models")->required();
}

}  // namespace sotto::cli
