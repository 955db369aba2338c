// What the program says: results on standard output, everything else on standard error.
#ifndef SOTTO_CLI_OUTPUT_H_
#define SOTTO_CLI_OUTPUT_H_

#include <string_view>

#include "cli/exit_codes.h"
#include "sotto/status.h"

namespace sotto::cli {

/// Writes all of `text` to standard output and flushes it. A reader that went away is kCancelled
/// and makes stdout_closed() true; a full disk or the like is an error.
Status write_stdout(std::string_view text);

/// True once a write found that nobody reads standard output any more.
bool stdout_closed();

/// Prints one failure: "sotto: error: <what happened>". Further lines of the message are what to do
/// next and are printed indented below it, the first of them as "  fix: …".
void print_error(const Status& status);

/// "sotto: warning: …" and "sotto: note: …"; further lines are indented.
void print_warning(std::string_view text);
void print_note(std::string_view text);

/// Prints `status` and returns the exit code for it: 1 for a wrong value of the user's
/// (kInvalidArgument), 130 when interrupted, 141 (silently) when the reader of standard output went
/// away, else `otherwise`.
int report(const Status& status, ExitCode otherwise);

}  // namespace sotto::cli

#endif  // SOTTO_CLI_OUTPUT_H_
