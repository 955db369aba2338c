// What `sotto bench` measured, as JSON and as text.
#ifndef SOTTO_CLI_BENCH_REPORT_H_
#define SOTTO_CLI_BENCH_REPORT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sotto/transcript.h"

namespace sotto::cli {

/// One measured transcription.
struct BenchRun {
  TranscriptStats stats;
  double total_ms = 0;  ///< Wall time of the call
  double cpu_s = 0;     ///< Of all threads
};

/// Everything measured of one recording on one device.
struct BenchResult {
  std::string file, model, device;
  DeviceProfile profile;
  std::string description;  ///< Of the model, for people
  int beam_size = 0;
  int warmup = 0;
  double peak_rss_mb = 0;      ///< Of the process, loading included
  std::vector<BenchRun> runs;  ///< At least one
  std::string text, language;
};

/// The middle value, or the mean of the two middle ones; 0 for none.
double median(std::vector<double> values);

/// Median over the runs of every operation that all of them have.
std::vector<OpStats> median_operations(const std::vector<BenchRun>& runs);

/// One object. Times are medians over the runs. `peak_share` compares with `peak_gflops` of the
/// same type.
nlohmann::json bench_json(const BenchResult& result);

/// The same for people, several lines.
std::string bench_text(const BenchResult& result);

}  // namespace sotto::cli

#endif  // SOTTO_CLI_BENCH_REPORT_H_
