// A model that runs in a server: `sotto transcribe --server URL`, and the server of this user that
// happens to run and has its model loaded already.
#ifndef SOTTO_CLI_REMOTE_MODEL_H_
#define SOTTO_CLI_REMOTE_MODEL_H_

#include <memory>
#include <string>

#include "cli/transcribe_args.h"
#include "sotto/status.h"
#include "sotto/transcribe.h"

namespace sotto::cli {

/// The server's model for this command line; null when the work is to be done here. With --server a
/// flag that the server cannot be told is kInvalidArgument, and a server that does not answer
/// kUnavailable; a running server of this user is used only where it does the same as this process.
Result<std::unique_ptr<SpeechModel>> choose_remote_model(const TranscribeArgs& args);

}  // namespace sotto::cli

#endif  // SOTTO_CLI_REMOTE_MODEL_H_
