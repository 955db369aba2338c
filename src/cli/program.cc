#include "cli/program.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <utility>

#include "base/closest_match.h"
#include "base/log.h"
#include "cli/exit_codes.h"
#include "cli/output.h"

namespace sotto::cli {
namespace {

constexpr std::string_view kTryHelp = "`sotto help` lists the commands";

int print_result(const std::string& text) {
  return report(write_stdout(text), kExitProcessing);
}

}  // namespace

std::string version() {
  return SOTTO_VERSION;
}

Status apply_log_options(const LogOptions& options) {
  std::string level = options.level;
  if (level.empty() && options.verbose > 0) {
    level = options.verbose == 1 ? "info" : options.verbose == 2 ? "debug" : "trace";
  }
  if (!level.empty()) return set_log_level(level).with_context("--log-level");
  const char* from_environment = std::getenv("SOTTO_LOG_LEVEL");
  if (from_environment == nullptr || *from_environment == '\0') return {};
  return set_log_level(from_environment).with_context("SOTTO_LOG_LEVEL");
}

CLI::App& Program::add_command(std::string name, std::string summary, std::function<int()> run) {
  Command& command = commands_.emplace_back();
  command.app = std::make_unique<CLI::App>(summary, "sotto " + name);
  command.app->set_help_flag("-h,--help", "Print this help and exit");
  command.app->add_flag("-v,--verbose", log_.verbose,
                        "Say more on standard error; -vv and -vvv still more");
  command.app->add_option("--log-level", log_.level, "trace, debug, info, warn, error or off")
      ->type_name("LEVEL");
  command.name = std::move(name);
  command.summary = std::move(summary);
  command.run = std::move(run);
  return *command.app;
}

void Program::add_raw_command(std::string name, std::string summary,
                              std::function<int(const Arguments&)> run) {
  Command& command = commands_.emplace_back();
  command.name = std::move(name);
  command.summary = std::move(summary);
  command.run_raw = std::move(run);
}

void Program::add_alias(const std::string& name, std::string alias) {
  if (Command* command = find(name)) command->aliases.push_back(std::move(alias));
}

Program::Command* Program::find(const std::string& name) {
  for (Command& command : commands_) {
    const std::vector<std::string>& aliases = command.aliases;
    if (command.name == name || std::find(aliases.begin(), aliases.end(), name) != aliases.end()) {
      return &command;
    }
  }
  return nullptr;
}

int Program::run(const Arguments& arguments) {
  try {
    return dispatch(arguments);
  } catch (const std::bad_alloc&) {
    return report(resource_exhausted("out of memory"), kExitProcessing);
  } catch (const std::exception& e) {
    return report(internal_error(e.what()), kExitProcessing);
  }
}

/// Options before the command's name belong to the program; what follows it, to the command.
int Program::dispatch(const Arguments& arguments) {
  log_ = {};
  size_t i = 0;
  for (; i < arguments.size() && arguments[i].size() > 1 && arguments[i][0] == '-'; ++i) {
    const std::string& argument = arguments[i];
    constexpr std::string_view kLevelEquals = "--log-level=";
    if (argument == "--version") return print_result("sotto " + version() + "\n");
    if (argument == "-h" || argument == "--help") return print_result(help());
    if (argument == "--verbose") {
      ++log_.verbose;
    } else if (argument.find_first_not_of('v', 1) == std::string::npos) {
      log_.verbose += static_cast<int>(argument.size()) - 1;
    } else if (argument.starts_with(kLevelEquals)) {
      log_.level = argument.substr(kLevelEquals.size());
    } else if (argument == "--log-level" && i + 1 < arguments.size()) {
      log_.level = arguments[++i];
    } else {
      return report(invalid_argument("unknown option '" + argument + "' before the command\n" +
                                     std::string(kTryHelp)),
                    kExitUsage);
    }
  }
  if (i == arguments.size()) {
    print_error(invalid_argument("no command was given\n" + std::string(kTryHelp)));
    return kExitUsage;
  }
  if (const Status status = apply_log_options(log_); !status.ok())
    return report(status, kExitUsage);
  const std::string name = arguments[i];
  const Arguments rest(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
  if (name == "help") return run_help(rest);
  Command* command = find(name);
  return command == nullptr ? unknown_command(name) : run_command(*command, rest);
}

int Program::run_command(Command& command, const Arguments& arguments) {
  return command.app == nullptr ? command.run_raw(arguments) : run_parsed(command, arguments);
}

int Program::run_parsed(Command& command, Arguments arguments) {
  // CLI11 counts a flag from zero and overwrites an option only when it is present.
  const int verbose_before = std::exchange(log_.verbose, 0);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them last first
  try {
    command.app->parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return print_result(command.app->help());
  } catch (const CLI::ParseError& e) {
    return report(invalid_argument(std::string(e.what()) + "\n`sotto " + command.name +
                                   " --help` explains the options"),
                  kExitUsage);
  }
  log_.verbose += verbose_before;
  if (const Status status = apply_log_options(log_); !status.ok())
    return report(status, kExitUsage);
  return command.run();
}

int Program::run_help(const Arguments& arguments) {
  if (arguments.empty()) return print_result(help());
  Command* command = find(arguments[0]);
  if (command == nullptr) return unknown_command(arguments[0]);
  return run_command(*command, {"--help"});
}

int Program::unknown_command(const std::string& name) const {
  std::vector<std::string> names;
  for (const Command& command : commands_) {
    if (command.summary.empty()) continue;
    names.push_back(command.name);
    names.insert(names.end(), command.aliases.begin(), command.aliases.end());
  }
  std::string message = "unknown command '" + name + "'";
  const std::string meant = closest_match(name, names);
  if (!meant.empty()) message += "; did you mean '" + meant + "'?";
  return report(invalid_argument(message + "\n" + std::string(kTryHelp)), kExitUsage);
}

std::string Program::help() const {
  size_t width = 0;
  for (const Command& command : commands_)
    if (!command.summary.empty()) width = std::max(width, command.name.size());
  std::string text =
      "sotto: speech to text and small language models on AMD NPUs and any CPU\n\n"
      "usage: sotto [-v] [--log-level LEVEL] COMMAND [OPTIONS]\n\ncommands:\n";
  for (const Command& command : commands_) {
    if (command.summary.empty()) continue;
    text += "  " + command.name + std::string(width - command.name.size() + 2, ' ') +
            command.summary + "\n";
  }
  return text + "\n`sotto help COMMAND` explains one. `sotto --version` prints the version.\n";
}

}  // namespace sotto::cli
