// sotto worker: the process that runs a model for `sotto serve`. Started by it, not by people.
#include <signal.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "worker/worker_main.h"

namespace sotto::cli {
namespace {

/// Signals for the whole group or service are the parent's to answer: it may want to let the
/// running job finish.
void leave_signals_to_parent() {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigemptyset(&ignore.sa_mask);
  sigaction(SIGINT, &ignore, nullptr);
  sigaction(SIGTERM, &ignore, nullptr);
  sigaction(SIGHUP, &ignore, nullptr);
}

int run_worker_command(const Program::Arguments& arguments) {
  int fd = -1;
  if (arguments.size() == 2 && arguments[0] == "--fd") {
    const Status read = read_number({"--fd", arguments[1]}, 0, 1 << 20, fd);
    if (!read.ok()) return report(read, kExitUsage);
  }
  if (fd < 0)
    return report(invalid_argument("sotto worker is started by sotto serve, not by hand"),
                  kExitUsage);
  leave_signals_to_parent();
  const Status status = worker::run_worker(fd, SpeechModel::load, [] { ::_exit(kExitOk); });
  return report(status, kExitProcessing);
}

}  // namespace

void register_worker(Program& program) {
  program.add_raw_command("worker", "", run_worker_command);
}

}  // namespace sotto::cli
