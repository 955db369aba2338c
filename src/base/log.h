// Diagnostics. Library code logs through this; only src/cli prints.
#ifndef SOTTO_BASE_LOG_H_
#define SOTTO_BASE_LOG_H_

#include <spdlog/spdlog.h>

#include <string_view>

#include "sotto/status.h"

namespace sotto {

/// Sends the log to standard error with a short pattern; called once by the program. The default
/// level is "warn".
void init_log();

/// "trace", "debug", "info", "warn", "error" or "off".
Status set_log_level(std::string_view level);

}  // namespace sotto

#endif  // SOTTO_BASE_LOG_H_
