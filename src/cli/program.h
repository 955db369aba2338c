// The frame of the command line: finds the subcommand, parses its options, gives help, sets the log
// level.
#ifndef SOTTO_CLI_PROGRAM_H_
#define SOTTO_CLI_PROGRAM_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sotto/status.h"

namespace sotto::cli {

/// -v (info), -vv (debug), -vvv (trace); --log-level LEVEL wins; the environment's SOTTO_LOG_LEVEL
/// is the default.
struct LogOptions {
  int verbose = 0;
  std::string level;
};

/// Sets the log level of the process.
Status apply_log_options(const LogOptions& options);

/// The program as a table of subcommands. One file a subcommand; each has a registration function
/// (cli/commands.h) that adds its row here.
class Program {
 public:
  using Arguments = std::vector<std::string>;

  Program() = default;
  Program(const Program&) = delete;  // the options of its commands point into it
  Program& operator=(const Program&) = delete;

  /// A subcommand whose options CLI11 parses. Declare them on the result, which lives as long as
  /// this object; `run` is called after they parsed and returns an exit code (cli/exit_codes.h).
  /// -h, -v and --log-level are added here.
  CLI::App& add_command(std::string name, std::string summary, std::function<int()> run);

  /// A subcommand with a grammar of its own: `run` gets everything after the command's name as it
  /// was typed, "--help" included (which `sotto help NAME` also sends). A command without a summary
  /// is for sotto itself: it works, but is listed nowhere.
  void add_raw_command(std::string name, std::string summary,
                       std::function<int(const Arguments&)> run);

  /// A second name for a command added before.
  void add_alias(const std::string& name, std::string alias);

  /// Runs one command line (without the program's own name) and returns the exit code. Never
  /// throws.
  int run(const Arguments& arguments);

  /// The list of commands that `sotto help` prints.
  [[nodiscard]] std::string help() const;

 private:
  struct Command {
    std::string name, summary;
    std::vector<std::string> aliases;
    std::unique_ptr<CLI::App> app;  ///< Null for a raw command
    std::function<int()> run;
    std::function<int(const Arguments&)> run_raw;
  };

  Command* find(const std::string& name);
  int dispatch(const Arguments& arguments);
  int run_command(Command& command, const Arguments& arguments);
  int run_parsed(Command& command, Arguments arguments);
  int run_help(const Arguments& arguments);
  int unknown_command(const std::string& name) const;

  std::vector<Command> commands_;
  LogOptions log_;
};

/// The version of the program, e.g. "0.1.0".
std::string version();

}  // namespace sotto::cli

#endif  // SOTTO_CLI_PROGRAM_H_
