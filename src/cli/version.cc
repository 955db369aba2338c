// sotto version: the version, for people or for scripts.
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/output.h"

namespace sotto::cli {

void register_version(Program& program) {
  auto json = std::make_shared<bool>(false);
  CLI::App& app = program.add_command("version", "Print the version", [json] {
    const std::string text =
        *json ? nlohmann::json{{"version", version()}}.dump() : "sotto " + version();
    return report(write_stdout(text + "\n"), kExitProcessing);
  });
  app.add_flag("-j,--json", *json, "As a JSON object");
}

}  // namespace sotto::cli
