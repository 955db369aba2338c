#include "cli/transcribe_stats.h"

#include <fmt/format.h>

#include <cstdio>

#include "transcript/writers.h"

namespace sotto::cli {
namespace {

void add_stage(std::string& out, std::string_view name, double ms) {
  out += fmt::format("  {:>12} time = {:10.2f} ms\n", name, ms);
}

void add_retried(std::string& out, const std::vector<RetriedSpan>& spans) {
  for (const RetriedSpan& span : spans) {
    out += fmt::format("  retried {} --> {} ({}), text of temperature {:.1f}\n",
                       transcript::format_time(span.start, '.'),
                       transcript::format_time(span.end, '.'), span.reason, span.temperature);
  }
}

void add_dropped(std::string& out, const std::vector<DroppedSpan>& spans) {
  for (const DroppedSpan& span : spans) {
    out += fmt::format("  dropped {} --> {} ({}){}{}\n", transcript::format_time(span.start, '.'),
                       transcript::format_time(span.end, '.'), span.reason,
                       span.text.empty() ? "" : ": ", span.text);
  }
}

}  // namespace

double gigaflops(const OpStats& op) {
  return op.ms > 0 ? op.flops / (op.ms * 1e6) : 0;
}

std::optional<double> peak_share(const OpStats& op, const DeviceProfile& profile) {
  const auto peak = profile.peak_gflops.find(op.type);
  if (peak == profile.peak_gflops.end() || peak->second <= 0) return {};
  return gigaflops(op) / peak->second;
}

std::string render_operations(const std::vector<OpStats>& ops, const DeviceProfile& profile) {
  if (ops.empty()) return "";
  std::string out =
      fmt::format("  {:<18} {:<6} {:<5} {:>8} {:>10} {:>9} {:>8} {:>9}\n", "operation", "device",
                  "type", "calls", "ms", "GFLOP/s", "of peak", "fallbacks");
  for (const OpStats& op : ops) {
    const std::optional<double> share = peak_share(op, profile);
    out +=
        fmt::format("  {:<18} {:<6} {:<5} {:>8} {:>10.2f} {:>9.1f} {:>8} {:>9}", op.op, op.device,
                    op.type, op.calls, op.ms, gigaflops(op),
                    share.has_value() ? fmt::format("{:.0f} %", *share * 100) : "", op.fallbacks);
    if (!op.fallback_reason.empty()) out += "  " + op.fallback_reason;
    out += '\n';
  }
  if (profile.peak_gflops.empty()) return out;
  out += "  measured peak:";
  const char* separator = " ";
  for (const auto& [type, rate] : profile.peak_gflops) {
    out += fmt::format("{}{} {:.0f}", separator, type, rate);
    separator = ", ";
  }
  return out + fmt::format(" GFLOP/s with {} {}\n", profile.threads,
                           profile.threads == 1 ? "thread" : "threads");
}

std::string render_stats(std::string_view input, const Transcript& transcript,
                         std::string_view device, const DeviceProfile& profile) {
  const TranscriptStats& stats = transcript.stats;
  std::string out = fmt::format("{}: {:.2f} s of audio, {}\n", input, stats.audio_s, device);
  add_stage(out, "load", stats.load_ms);
  add_stage(out, "decode audio", stats.decode_audio_ms);
  add_stage(out, "mel", stats.mel_ms);
  if (stats.vad_ms > 0) add_stage(out, "vad", stats.vad_ms);
  add_stage(out, "encode", stats.encode_ms);
  add_stage(out, "generate", stats.generate_ms);
  add_stage(out, "total", stats.total_ms);
  const double factor = stats.audio_s > 0 ? stats.total_ms / (stats.audio_s * 1000) : 0;
  out += fmt::format("  real-time factor {:.3f}; {} windows, {} of them decoded again\n", factor,
                     stats.windows, stats.fallbacks);
  if (!stats.fallback_reason.empty())
    out += fmt::format("  {}: {}\n", stats.device, stats.fallback_reason);
  out += render_operations(stats.ops, profile);
  add_dropped(out, transcript.dropped);
  add_retried(out, transcript.retried);
  return out;
}

void print_stats(std::string_view input, const Transcript& transcript, std::string_view device,
                 const DeviceProfile& profile) {
  fmt::print(stderr, "{}", render_stats(input, transcript, device, profile));
}

}  // namespace sotto::cli
