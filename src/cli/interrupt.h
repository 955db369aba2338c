// Ctrl-C: asks the running command to stop, so that it can leave things in order.
#ifndef SOTTO_CLI_INTERRUPT_H_
#define SOTTO_CLI_INTERRUPT_H_

namespace sotto::cli {

/// The first SIGINT or SIGTERM sets the flag below; a second one ends the process at once with 130.
/// SIGPIPE and SIGXFSZ are ignored, so that a closed pipe or a limit on the size of files shows as
/// a failed write. Called once by main.
void install_signal_handlers();

/// True once the user asked to stop. Fits TranscribeCallbacks::should_stop and its kind.
bool interrupted();

/// Sets or clears the flag, for tests and for commands that handled the request and go on.
void set_interrupted(bool value);

}  // namespace sotto::cli

#endif  // SOTTO_CLI_INTERRUPT_H_
