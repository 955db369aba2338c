// The report of `sotto transcribe --stats`.
#ifndef SOTTO_CLI_TRANSCRIBE_STATS_H_
#define SOTTO_CLI_TRANSCRIBE_STATS_H_

#include <string>
#include <string_view>

#include "sotto/transcript.h"

namespace sotto::cli {

/// Time by stage and by operation, what was dropped and why. Stage lines read "<stage> time = <n>
/// ms", which scripts around whisper-cli look for.
std::string render_stats(std::string_view input, const Transcript& transcript,
                         std::string_view device);

/// The same on standard error.
void print_stats(std::string_view input, const Transcript& transcript, std::string_view device);

}  // namespace sotto::cli

#endif  // SOTTO_CLI_TRANSCRIBE_STATS_H_
