// How a run of sotto ended, as scripts see it.
#ifndef SOTTO_CLI_EXIT_CODES_H_
#define SOTTO_CLI_EXIT_CODES_H_

namespace sotto::cli {

enum ExitCode : int {
  kExitOk = 0,
  kExitUsage = 1,          ///< Unknown option, command or value
  kExitInput = 2,          ///< No input, or an input that cannot be read
  kExitModel = 3,          ///< No such model, or one that cannot be fetched, loaded or stored
  kExitGrammar = 4,        ///< A grammar that does not parse
  kExitDevice = 5,         ///< The device asked for is missing or failed
  kExitProcessing = 10,    ///< The work itself failed, or its result could not be written
  kExitInterrupted = 130,  ///< Ctrl-C: 128 + SIGINT, as shells have it
  kExitClosedPipe = 141,   ///< The reader of standard output went away: 128 + SIGPIPE
};

}  // namespace sotto::cli

#endif  // SOTTO_CLI_EXIT_CODES_H_
