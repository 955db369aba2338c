// The report of `sotto transcribe --stats`.
#ifndef SOTTO_CLI_TRANSCRIBE_STATS_H_
#define SOTTO_CLI_TRANSCRIBE_STATS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/transcript.h"

namespace sotto::cli {

/// GFLOP/s (int8: GOP/s) of an operation; 0 when it takes no time.
double gigaflops(const OpStats& op);

/// gigaflops() as a part of the measured peak of its type; nothing where that is not known.
std::optional<double> peak_share(const OpStats& op, const DeviceProfile& profile);

/// A table of operations: where each ran, its time, its rate and what part of the peak that is.
std::string render_operations(const std::vector<OpStats>& ops, const DeviceProfile& profile);

/// Time by stage and by operation, what was dropped and why. Stage lines read "<stage> time = <n>
/// ms", which scripts around whisper-cli look for.
std::string render_stats(std::string_view input, const Transcript& transcript,
                         std::string_view device, const DeviceProfile& profile);

/// The same on standard error.
void print_stats(std::string_view input, const Transcript& transcript, std::string_view device,
                 const DeviceProfile& profile);

}  // namespace sotto::cli

#endif  // SOTTO_CLI_TRANSCRIBE_STATS_H_
