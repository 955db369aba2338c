#include "cli/bench_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/terminal.h"
#include "cli/transcribe_stats.h"

namespace sotto::cli {
namespace {

using nlohmann::json;

struct Stage {
  const char* name;  ///< For people
  const char* key;   ///< In JSON
  double TranscriptStats::*ms;
};
constexpr Stage kStages[] = {{"decode audio", "audio_ms", &TranscriptStats::decode_audio_ms},
                             {"mel", "mel_ms", &TranscriptStats::mel_ms},
                             {"vad", "vad_ms", &TranscriptStats::vad_ms},
                             {"encode", "encode_ms", &TranscriptStats::encode_ms},
                             {"decode", "decode_ms", &TranscriptStats::generate_ms}};

template <typename Value>
std::vector<double> collect(const std::vector<BenchRun>& runs, Value value) {
  std::vector<double> out;
  for (const BenchRun& run : runs)
    out.push_back(value(run));
  return out;
}

double median_stage(const BenchResult& result, const Stage& stage) {
  return median(collect(result.runs, [&](const BenchRun& run) { return run.stats.*stage.ms; }));
}

std::vector<double> totals(const BenchResult& result) {
  return collect(result.runs, [](const BenchRun& run) { return run.total_ms; });
}

double real_time_factor(const BenchResult& result) {
  const double audio_s = result.runs[0].stats.audio_s;
  return audio_s > 0 ? median(totals(result)) / (audio_s * 1000) : 0;
}

double median_cpu(const BenchResult& result) {
  return median(collect(result.runs, [](const BenchRun& run) { return run.cpu_s; }));
}

json operation_json(const OpStats& op, const DeviceProfile& profile) {
  json out = {{"op", op.op},
              {"device", op.device},
              {"calls", op.calls},
              {"ms", op.ms},
              {"gflops", gigaflops(op)}};
  if (!op.type.empty()) out["type"] = op.type;
  if (const std::optional<double> share = peak_share(op, profile)) out["peak_share"] = *share;
  if (op.fallbacks > 0) {
    out["fallbacks"] = op.fallbacks;
    out["fallback_reason"] = op.fallback_reason;
  }
  return out;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::vector<OpStats> median_operations(const std::vector<BenchRun>& runs) {
  std::vector<OpStats> out;
  for (OpStats op : runs.at(0).stats.ops) {
    std::vector<double> ms;
    for (const BenchRun& run : runs) {
      for (const OpStats& other : run.stats.ops) {
        if (other.op == op.op && other.device == op.device) ms.push_back(other.ms);
      }
    }
    if (ms.size() < runs.size()) continue;
    op.ms = median(ms);
    out.push_back(op);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const OpStats& a, const OpStats& b) { return a.ms > b.ms; });
  return out;
}

json bench_json(const BenchResult& result) {
  const std::vector<double> all = totals(result);
  json out = {{"file", result.file},
              {"model", result.model},
              {"device", result.device},
              {"compute", result.profile.compute},
              {"threads", result.profile.threads},
              {"beam_size", result.beam_size},
              {"runs", result.runs.size()},
              {"warmup", result.warmup},
              {"audio_s", result.runs[0].stats.audio_s},
              {"load_ms", result.runs[0].stats.load_ms},
              {"total_ms", median(all)},
              {"min_total_ms", *std::min_element(all.begin(), all.end())},
              {"rtf", real_time_factor(result)},
              {"windows", result.runs[0].stats.windows},
              {"cpu_s", median_cpu(result)},
              {"peak_rss_mb", result.peak_rss_mb},
              {"peak_gflops", result.profile.peak_gflops},
              {"language", result.language},
              {"text", result.text}};
  for (const Stage& stage : kStages)
    out[stage.key] = median_stage(result, stage);
  out["ops"] = json::array();
  for (const OpStats& op : median_operations(result.runs))
    out["ops"].push_back(operation_json(op, result.profile));
  return out;
}

std::string bench_text(const BenchResult& result) {
  std::string out = fmt::format("{}: {:.2f} s of audio\n  {}, {}, beam {}\n",
                                printable(result.file), result.runs[0].stats.audio_s,
                                printable(result.model), result.description, result.beam_size);
  const auto line = [&out](std::string_view name, double ms) {
    out += fmt::format("  {:>12} {:>10.2f} ms\n", name, ms);
  };
  line("load", result.runs[0].stats.load_ms);
  for (const Stage& stage : kStages) {
    if (const double ms = median_stage(result, stage); ms > 0) line(stage.name, ms);
  }
  const std::vector<double> all = totals(result);
  line("total", median(all));
  out += fmt::format(
      "  median of {} runs after {} to warm up; fastest {:.2f} ms\n"
      "  real-time factor {:.4f}; {:.2f} CPU-seconds a run; peak memory {:.1f} MB\n",
      result.runs.size(), result.warmup, *std::min_element(all.begin(), all.end()),
      real_time_factor(result), median_cpu(result), result.peak_rss_mb);
  return out + render_operations(median_operations(result.runs), result.profile) + "  " +
         printable(result.text) + "\n";
}

}  // namespace sotto::cli
