#include "cli/transcribe_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/transcribe_stats.h"
#include "transcript/split.h"
#include "transcript/writers.h"

namespace sotto::cli {
namespace {

/// Name of an input for messages.
std::string label(const std::string& input) {
  return input == kStandardStream ? "standard input" : printable(input);
}

/// The same failure said about `input` once, with its name safe to print.
Status about(const std::string& input, const Status& status) {
  std::string message = status.message();
  const size_t named = input.empty() ? std::string::npos : message.find(input);
  if (input == kStandardStream || named == std::string::npos) {
    return Status(status.code(), message).with_context(label(input));
  }
  message.replace(named, input.size(), printable(input));
  return {status.code(), std::move(message)};
}

std::string trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

Transcript with_short_segments(Transcript transcript, int max_characters) {
  std::vector<Segment> pieces;
  for (const Segment& segment : transcript.segments) {
    for (Segment& piece : transcript::split_segment(segment, max_characters)) {
      piece.id = static_cast<int>(pieces.size());
      pieces.push_back(std::move(piece));
    }
  }
  transcript.segments = std::move(pieces);
  return transcript;
}

}  // namespace

struct TranscribeJob::Progress {
  bool decoded = false;  ///< The recording is known to be good
  bool has_language = false;
  Transcript so_far;  ///< Segments that are final
};

AudioSource TranscribeJob::source(size_t input) const {
  AudioSource source;
  source.path = args_.inputs[input];
  source.raw_format = args_.raw_format;
  source.raw_rate = args_.raw_rate;
  source.raw_channels = args_.raw_channels;
  return source;
}

bool TranscribeJob::is_pointless(size_t input) const {
  if (display_.output_status().ok()) return false;
  const std::vector<OutputFile>& files = plan_[input];
  return std::all_of(files.begin(), files.end(),
                     [](const OutputFile& file) { return file.path == kStandardStream; });
}

TranscribeCallbacks TranscribeJob::callbacks(size_t input, Progress& progress) const {
  TranscribeCallbacks callbacks;
  callbacks.on_audio = [&progress](double duration_s) {
    progress.decoded = true;
    progress.so_far.duration = duration_s;
  };
  callbacks.on_language = [&progress](const std::string& code, float probability) {
    progress.has_language = true;
    progress.so_far.language = code;
    progress.so_far.language_probability = probability;
  };
  callbacks.on_segment = [this, &progress](const Segment& segment) {
    for (Segment& piece : transcript::split_segment(segment, args_.max_segment_length)) {
      piece.id = static_cast<int>(progress.so_far.segments.size());
      progress.so_far.segments.push_back(piece);
      display_.segment(piece);
    }
  };
  callbacks.on_progress = [this](double done_s, double total_s) {
    display_.progress(done_s, total_s);
  };
  callbacks.should_stop = [this, input] { return interrupted() || is_pointless(input); };
  return callbacks;
}

ExitCode TranscribeJob::run(size_t input) {
  if (args_.inputs.size() > 1) {
    display_.note(
        fmt::format("{} of {}: {}", input + 1, args_.inputs.size(), label(args_.inputs[input])));
  }
  if (args_.detect_only) return detect_language(input);
  Progress progress;
  progress.so_far.language = args_.options.language;
  progress.so_far.task = args_.options.task == Task::kTranslate ? "translate" : "transcribe";
  display_.begin_input();
  const Result<Transcript> transcript =
      model_.transcribe(source(input), args_.options, callbacks(input, progress));
  display_.end_input();
  if (!transcript.ok()) return fail(input, transcript.status(), progress);
  return finish(input, with_short_segments(*transcript, args_.max_segment_length));
}

ExitCode TranscribeJob::detect_language(size_t input) {
  Progress progress;
  if (!model_.multilingual()) {
    return display_.failure(
        invalid_argument(
            "this model knows only English, there is nothing to detect\nuse a model without .en"),
        kExitUsage);
  }
  TranscribeCallbacks callbacks = this->callbacks(input, progress);
  callbacks.on_segment = nullptr;
  callbacks.on_progress = nullptr;
  callbacks.should_stop = [&progress] { return progress.has_language || interrupted(); };
  const Result<Transcript> transcript = model_.transcribe(source(input), args_.options, callbacks);
  const bool stopped_on_purpose =
      transcript.status().code() == StatusCode::kCancelled && progress.has_language;
  if (!transcript.ok() && !stopped_on_purpose) return fail(input, transcript.status(), progress);
  if (!progress.has_language) {
    return display_.failure(
        about(args_.inputs[input], invalid_argument("there is no speech to detect a language in")),
        kExitInput);
  }
  display_.document(fmt::format("{}\t{:.3f}\t{}", progress.so_far.language,
                                progress.so_far.language_probability, label(args_.inputs[input])));
  return kExitOk;
}

ExitCode TranscribeJob::finish(size_t input, const Transcript& transcript) {
  for (const std::string& warning : transcript.warnings) {
    display_.warning(fmt::format("{}: {}", label(args_.inputs[input]), printable(warning)));
  }
  const ExitCode code = write_documents(input, transcript, /*whole=*/true);
  if (args_.stats) {
    print_stats(label(args_.inputs[input]), transcript, model_.description(),
                model_.measure_profile());
  }
  return code;
}

ExitCode TranscribeJob::write_documents(size_t input, const Transcript& transcript, bool whole) {
  ExitCode code = kExitOk;
  for (const OutputFile& file : plan_[input]) {
    const std::string text = transcript::write(transcript, file.format, args_.writer);
    if (file.path == kStandardStream) {
      display_.document(text);
      continue;
    }
    const std::string path = whole ? file.path : partial_path(file.path);
    const Status status = write_file(path, text);
    if (!status.ok()) {
      code = worse(code, display_.failure(status, kExitProcessing));
    } else {
      display_.note(fmt::format("wrote {}", printable(path)));
    }
  }
  return code;
}

ExitCode TranscribeJob::fail(size_t input, const Status& status, const Progress& progress) {
  if (stdout_closed() && is_pointless(input)) return kExitClosedPipe;
  if (is_pointless(input)) return kExitProcessing;  // said once, when the whole run ends
  if (!progress.so_far.segments.empty()) {
    Transcript partial = progress.so_far;
    for (const Segment& segment : partial.segments)
      partial.text += segment.text;
    partial.text = trimmed(partial.text);
    display_.warning(fmt::format("{}: stopped after {:.1f} of {:.1f} s; the text so far is kept",
                                 label(args_.inputs[input]), partial.segments.back().end,
                                 partial.duration));
    write_documents(input, partial, /*whole=*/false);
  }
  if (status.code() == StatusCode::kCancelled || interrupted())
    return display_.failure(cancelled("interrupted"), kExitInterrupted);
  const Status failure = about(args_.inputs[input], status);
  if (!progress.decoded) return display_.failure(failure, kExitInput);
  const bool is_usage = status.code() == StatusCode::kInvalidArgument;
  return display_.failure(failure, is_usage ? kExitUsage : kExitProcessing);
}

}  // namespace sotto::cli
