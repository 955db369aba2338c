#include "cli/transcribe_stats.h"

#include <fmt/format.h>

#include <cstdio>

#include "transcript/writers.h"

namespace sotto::cli {
namespace {

void add_stage(std::string& out, std::string_view name, double ms) {
  out += fmt::format("  {:>12} time = {:10.2f} ms\n", name, ms);
}

void add_operations(std::string& out, const std::vector<OpStats>& ops) {
  if (ops.empty()) return;
  out += fmt::format("  {:<20} {:<6} {:>8} {:>12} {:>10} {:>9}\n", "operation", "device", "calls",
                     "ms", "GFLOP/s", "fallbacks");
  for (const OpStats& op : ops) {
    const double gigaflops = op.ms > 0 ? op.flops / (op.ms * 1e6) : 0;
    out += fmt::format("  {:<20} {:<6} {:>8} {:>12.2f} {:>10.1f} {:>9}", op.op, op.device, op.calls,
                       op.ms, gigaflops, op.fallbacks);
    if (!op.fallback_reason.empty()) out += "  " + op.fallback_reason;
    out += '\n';
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

std::string render_stats(std::string_view input, const Transcript& transcript,
                         std::string_view device) {
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
  out += fmt::format(
      "  real-time factor {:.3f}; {} windows, {} of them decoded again at a higher temperature\n",
      factor, stats.windows, stats.fallbacks);
  if (!stats.fallback_reason.empty())
    out += fmt::format("  {}: {}\n", stats.device, stats.fallback_reason);
  add_operations(out, stats.ops);
  add_dropped(out, transcript.dropped);
  return out;
}

void print_stats(std::string_view input, const Transcript& transcript, std::string_view device) {
  fmt::print(stderr, "{}", render_stats(input, transcript, device));
}

}  // namespace sotto::cli
