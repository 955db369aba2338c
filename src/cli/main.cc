// The program: sets up signals and the log, then hands over to the subcommand.
#include "base/log.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/program.h"

int main(int argc, char** argv) {
  sotto::cli::install_signal_handlers();
  sotto::init_log();
  sotto::cli::Program program;
  sotto::cli::register_commands(program);
  return program.run({argv + (argc > 0 ? 1 : 0), argv + argc});
}
