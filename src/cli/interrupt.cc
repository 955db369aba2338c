#include "cli/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "cli/exit_codes.h"

namespace sotto::cli {
namespace {

std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "the flag is written by a signal handler");

extern "C" void on_stop_signal(int) {
  // The command had its chance to end in order; the user insists.
  if (stop_requested.exchange(true)) _exit(kExitInterrupted);
}

}  // namespace

void install_signal_handlers() {
  struct sigaction stop {};
  stop.sa_handler = on_stop_signal;
  sigemptyset(&stop.sa_mask);
  // No SA_RESTART: a blocked read or wait returns EINTR and its loop sees the flag.
  sigaction(SIGINT, &stop, nullptr);
  sigaction(SIGTERM, &stop, nullptr);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigemptyset(&ignore.sa_mask);
  sigaction(SIGPIPE, &ignore, nullptr);
  sigaction(SIGXFSZ, &ignore, nullptr);
}

bool interrupted() {
  return stop_requested.load(std::memory_order_relaxed);
}

void set_interrupted(bool value) {
  stop_requested.store(value);
}

}  // namespace sotto::cli
