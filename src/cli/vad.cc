// sotto vad: where a recording holds speech.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/interrupt.h"
#include "cli/model_output.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/vad_flags.h"
#include "sotto/speech_detector.h"

namespace sotto::cli {
namespace {

struct Options {
  std::vector<std::string> inputs;
  std::string format = "text";
  bool probabilities = false;
  bool help = false;
  VadFlags vad;
};

std::vector<FlagSection> sections(Options& o) {
  std::vector<Flag> flags = {
      {"-f --format", "FORMAT", "text (seconds), json, or audacity (a label track) (text)",
       store(o.format)},
      {"-j --json", "", "the same as --format json", call([&o] { o.format = "json"; })},
      {"--probabilities", "", "json: also the probability of each 32 ms",
       turn(o.probabilities, true)},
      {"-h --help", "", "this text", turn(o.help, true)}};
  return {{"Flags", std::move(flags)}, {"Detection", vad_flags(o.vad)}};
}

std::string as_text(const SpeechActivity& activity) {
  std::string text;
  for (const SpeechSpan& span : activity.spans)
    text += fmt::format("{:.3f}\t{:.3f}\n", span.start, span.end);
  return text;
}

/// Audacity's File > Import > Labels.
std::string as_labels(const SpeechActivity& activity) {
  std::string text;
  for (const SpeechSpan& span : activity.spans)
    text += fmt::format("{:.6f}\t{:.6f}\tspeech\n", span.start, span.end);
  return text;
}

std::string as_json(const SpeechActivity& activity, const std::string& file, bool probabilities) {
  const auto rounded = [](double x, double steps) { return std::round(x * steps) / steps; };
  constexpr double kMs = 1000, kProbabilitySteps = 10000;
  nlohmann::json json = {{"file", file}, {"duration", rounded(activity.duration, kMs)}};
  double speech = 0;
  nlohmann::json spans = nlohmann::json::array();
  for (const SpeechSpan& span : activity.spans) {
    spans.push_back({{"start", rounded(span.start, kMs)}, {"end", rounded(span.end, kMs)}});
    speech += span.end - span.start;
  }
  json["speech"] = rounded(speech, kMs);
  json["spans"] = std::move(spans);
  if (probabilities) {
    json["seconds_per_probability"] = activity.seconds_per_probability;
    nlohmann::json list = nlohmann::json::array();
    for (const float p : activity.probabilities)
      list.push_back(rounded(static_cast<double>(p), kProbabilitySteps));
    json["probabilities"] = std::move(list);
  }
  return json_line(json);
}

int detect(const Options& options, const VadOptions& vad, const std::string& input,
           SpeechDetector& detector) {
  AudioSource source;
  source.path = input;
  const Result<SpeechActivity> activity = detector.detect(source, vad, interrupted);
  if (!activity.ok()) return report(activity.status(), kExitInput);
  for (const std::string& warning : activity->warnings)
    print_warning(fmt::format("{}: {}", printable(input), printable(warning)));
  std::string text;
  if (options.format == "json") {
    text = as_json(*activity, input, options.probabilities);
  } else {
    text = options.format == "audacity" ? as_labels(*activity) : as_text(*activity);
  }
  return report(write_stdout(text), kExitProcessing);
}

Status check(const Options& options) {
  if (options.format != "text" && options.format != "json" && options.format != "audacity") {
    return invalid_argument(
        fmt::format("--format is text, json or audacity, not '{}'", printable(options.format)));
  }
  if (options.inputs.size() > 1 && options.format != "json") {
    return invalid_argument("several inputs need --json, one line each");
  }
  return {};
}

std::string help(int width) {
  Options options;
  return "usage: sotto vad [FLAGS] FILE...\n"
         "Prints where a recording holds speech, in seconds. '-' is standard input.\n\n" +
         format_help(sections(options), width);
}

int run_vad(const Program::Arguments& arguments) {
  Options options;
  if (const Status parsed = parse_flags(arguments, sections(options), options.inputs); !parsed.ok())
    return report(parsed, kExitUsage);
  if (options.help) return report(write_stdout(help(terminal_width(stdout))), kExitProcessing);
  if (const Status checked = check(options); !checked.ok()) return report(checked, kExitUsage);
  if (options.inputs.empty()) {
    print_error(invalid_argument("no input\ngive a file, or '-' for standard input"));
    return kExitInput;
  }
  const Result<VadOptions> vad = vad_options(options.vad);
  if (!vad.ok()) return report(vad.status(), kExitUsage);
  const Result<std::string> path = find_vad_model(options.vad);
  if (!path.ok()) return report(path.status(), kExitModel);
  const Result<std::unique_ptr<SpeechDetector>> detector = SpeechDetector::load(*path);
  if (!detector.ok()) return report(detector.status(), kExitModel);
  int worst = kExitOk;
  for (const std::string& input : options.inputs) {
    if (interrupted() || stdout_closed()) break;
    worst = std::max(worst, detect(options, *vad, input, **detector));
  }
  return worst;
}

}  // namespace

void register_vad(Program& program) {
  program.add_raw_command("vad", "Find speech in a recording", run_vad);
}

}  // namespace sotto::cli
