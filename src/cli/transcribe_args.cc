#include "cli/transcribe_args.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <utility>

namespace sotto::cli {
namespace {

using transcript::Format;

/// Lines of the file named by the only argument "@FILE"; other command lines stay as they are.
Result<std::vector<std::string>> expand_response_file(std::span<const std::string> arguments) {
  const bool is_response =
      arguments.size() == 1 && arguments[0].size() > 1 && arguments[0][0] == '@';
  if (!is_response) return std::vector<std::string>(arguments.begin(), arguments.end());
  const std::string path = arguments[0].substr(1);
  std::ifstream file(path);
  if (!file) return not_found(fmt::format("cannot read the arguments file '{}'", path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

Status complete_language(TranscribeArgs& args) {
  const std::string& name = args.language;
  if (!name.empty() && name != "auto" && name != "None" && !args.detect_only) {
    SOTTO_ASSIGN_OR_RETURN(args.options.language, parse_language(name));
    args.writer.requested_language = args.options.language;
  }
  for (const std::string& part : split_list(args.languages)) {
    SOTTO_ASSIGN_OR_RETURN(std::string code, parse_language(part));
    args.options.languages.push_back(std::move(code));
  }
  if (!args.task.empty() && args.task != "transcribe" && args.task != "translate") {
    return invalid_argument(fmt::format("--task is transcribe or translate, not '{}'", args.task));
  }
  if (args.translate || args.task == "translate") args.options.task = Task::kTranslate;
  return {};
}

/// CTranslate2's names of computation types beside sotto's own.
void complete_compute(LoadOptions& load) {
  if (load.compute == "default") load.compute = "auto";
  if (load.compute.starts_with("int8_")) load.compute = "int8";
}

/// first, first + step, ... up to 1: OpenAI's rule.
void complete_temperatures(TranscribeArgs& args) {
  std::vector<float>& list = args.options.temperatures;
  list = {args.first_temperature};
  const float step = args.temperature_step.value_or(0);
  constexpr float kSmallestStep = 0.01f;  // so that a tiny step cannot mean a million attempts
  if (step < kSmallestStep) return;
  constexpr float kRounding = 1e-4f;
  for (int i = 1; args.first_temperature + static_cast<float>(i) * step <= 1 + kRounding; ++i) {
    list.push_back(args.first_temperature + static_cast<float>(i) * step);
  }
}

Status complete_clips(TranscribeArgs& args) {
  std::vector<double> times;
  for (const std::string& part : split_list(args.clip_timestamps)) {
    FlagUse use{"--clip-timestamps", part};
    float seconds = 0;
    SOTTO_RETURN_IF_ERROR(read_number(use, 0.0f, 1e7f, seconds));
    times.push_back(static_cast<double>(seconds));
  }
  for (size_t i = 0; i < times.size(); i += 2) {
    const double end = i + 1 < times.size() ? times[i + 1] : -1;
    if (end >= 0 && end <= times[i]) {
      return invalid_argument(
          fmt::format("--clip-timestamps: the part from {} s ends at {} s", times[i], end));
    }
    args.options.clips.emplace_back(times[i], end);
  }
  if (args.offset_ms == 0 && args.duration_ms == 0) return {};
  if (!times.empty()) return invalid_argument("--clip-timestamps and -ot/-d exclude each other");
  const double start = args.offset_ms / 1000.0;
  args.options.clips.emplace_back(start,
                                  args.duration_ms > 0 ? start + args.duration_ms / 1000.0 : -1.0);
  return {};
}

Status complete_suppressed(TranscribeArgs& args) {
  if (args.suppress_tokens.empty()) return {};
  args.options.suppress_tokens.clear();
  for (const std::string& part : split_list(args.suppress_tokens)) {
    int id = 0;
    SOTTO_RETURN_IF_ERROR(read_number({"--suppress-tokens", part}, -1, 1 << 20, id));
    args.options.suppress_tokens.push_back(id);
  }
  return {};
}

/// Line rules need word times to be asked for, as in openai-whisper; -ml asks for them itself.
Status complete_words(TranscribeArgs& args) {
  if (args.max_segment_length > 0) args.options.word_timestamps = true;
  if (args.options.word_timestamps) return {};
  const std::pair<bool, const char*> given[] = {
      {args.writer.max_line_width > 0, "--max_line_width"},
      {args.writer.max_line_count > 0, "--max_line_count"},
      {args.writer.max_words_per_line > 0, "--max_words_per_line"},
      {args.writer.highlight_words, "--highlight_words"},
      {args.options.hallucination_silence_threshold.has_value(),
       "--hallucination_silence_threshold"}};
  for (const auto& [is_given, name] : given) {
    if (is_given) return invalid_argument(fmt::format("{} needs --word_timestamps True", name));
  }
  return {};
}

bool is_stdout(const TranscribeArgs& args) {
  return args.output_folder == "-" || std::find(args.output_names.begin(), args.output_names.end(),
                                                "-") != args.output_names.end();
}

/// Removes doubles; -ojf includes -oj, as both write the same file.
void unite_outputs(std::vector<OutputRequest>& outputs) {
  const auto has = [&](Format format, bool keep) {
    return std::any_of(outputs.begin(), outputs.end(), [&](const OutputRequest& request) {
      return request.format == format && request.keep_extension == keep;
    });
  };
  if (has(Format::kJsonFull, true)) {
    std::erase_if(outputs, [](const OutputRequest& request) {
      return request.format == Format::kJsonCli && request.keep_extension;
    });
  }
  std::vector<OutputRequest> united;
  for (const OutputRequest& request : outputs) {
    const bool known = std::any_of(united.begin(), united.end(), [&](const OutputRequest& other) {
      return other.format == request.format && other.keep_extension == request.keep_extension;
    });
    if (!known) united.push_back(request);
  }
  outputs = std::move(united);
}

/// A document on standard output stands alone there: one for each input and no other line.
Status complete_stdout(TranscribeArgs& args) {
  if (args.outputs.empty()) args.outputs.push_back({Format::kTxt, false});
  args.display.lines = false;
  if (args.outputs.size() > 1) {
    return invalid_argument("standard output takes one format; give -o FOLDER for several");
  }
  const Format format = args.outputs[0].format;
  const bool can_follow =
      format == Format::kTxt || format == Format::kJson || format == Format::kVerboseJson;
  if (args.inputs.size() > 1 && args.output_names.empty() && !can_follow) {
    return invalid_argument(
        fmt::format("standard output takes one {} document; give -o FOLDER for several inputs",
                    transcript::file_extension(format)));
  }
  return {};
}

Status complete_outputs(TranscribeArgs& args) {
  args.writer.first_index = args.first_index + 1;
  if (args.json) {
    if (!args.outputs.empty() || !args.output_names.empty() || !args.output_folder.empty()) {
      return invalid_argument("--json prints on standard output; for files use -f json -o FOLDER");
    }
    args.outputs = {{Format::kJson, false}};
    args.output_folder = "-";
  }
  unite_outputs(args.outputs);
  if (args.output_names.size() > args.inputs.size() && !args.inputs.empty()) {
    return invalid_argument(fmt::format("{} output names (-of) for {} inputs",
                                        args.output_names.size(), args.inputs.size()));
  }
  if (args.output_folder == "-" && !args.output_names.empty()) {
    return invalid_argument("-o - and -of exclude each other");
  }
  if (is_stdout(args)) return complete_stdout(args);
  if (args.outputs.empty() && !args.output_folder.empty()) {
    return add_formats(args, {"--output-format", "all"});
  }
  if (args.outputs.empty() && !args.output_names.empty()) {
    args.notes.push_back("-of has no effect: no format is asked for (-osrt, -otxt, ...)");
  }
  return {};
}

/// Lines of the vocabulary file become hotwords, after those given; lines that begin with # are
/// remarks.
Status complete_vocabulary(TranscribeArgs& args) {
  if (args.vocabulary.empty()) return {};
  std::ifstream file(args.vocabulary);
  if (!file || std::filesystem::is_directory(args.vocabulary))
    return not_found(fmt::format("--vocabulary: cannot read '{}'", args.vocabulary));
  std::string& words = args.options.hotwords;
  for (std::string line; std::getline(file, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
      line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    if (!words.empty()) words += ", ";
    words += line;
  }
  return {};
}

Status complete_vad(TranscribeArgs& args) {
  SOTTO_ASSIGN_OR_RETURN(args.options.vad, vad_options(args.vad));
  return {};
}

Status complete(TranscribeArgs& args) {
  SOTTO_RETURN_IF_ERROR(complete_language(args));
  complete_compute(args.load);
  complete_temperatures(args);
  SOTTO_RETURN_IF_ERROR(complete_clips(args));
  SOTTO_RETURN_IF_ERROR(complete_suppressed(args));
  SOTTO_RETURN_IF_ERROR(complete_words(args));
  SOTTO_RETURN_IF_ERROR(complete_vocabulary(args));
  SOTTO_RETURN_IF_ERROR(complete_vad(args));
  return complete_outputs(args);
}

}  // namespace

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool is_format_list(std::string_view text) {
  const std::vector<std::string> parts = split_list(text);
  return !parts.empty() && std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
    return part == "all" || transcript::parse_format(part).ok();
  });
}

Status add_formats(TranscribeArgs& args, const FlagUse& use) {
  for (const std::string& name : split_list(use.value)) {
    if (name == "all") {
      for (const Format format :
           {Format::kTxt, Format::kSrt, Format::kVtt, Format::kTsv, Format::kCsv, Format::kJson}) {
        args.outputs.push_back({format, false});
      }
      continue;
    }
    const Result<Format> format = transcript::parse_format(name);
    if (!format.ok()) return format.status().with_context(use.spelling);
    args.outputs.push_back({*format, false});
  }
  return {};
}

Status parse_transcribe_args(std::span<const std::string> arguments, TranscribeArgs& args) {
  SOTTO_ASSIGN_OR_RETURN(const std::vector<std::string> expanded, expand_response_file(arguments));
  SOTTO_RETURN_IF_ERROR(parse_flags(expanded, transcribe_flags(args), args.inputs));
  if (args.help || args.version) return {};
  return complete(args);
}

std::string transcribe_help(int width) {
  TranscribeArgs args;
  return std::string(
             "usage: sotto transcribe [FLAGS] FILE...\n"
             "Turns speech in audio and video files into text. The flags of whisper-cli and of\n"
             "openai-whisper work alike; '_' and '-' are the same in long flags, --flag=value is\n"
             "--flag value, and '-' is standard input.\n"
             "\n"
             "  sotto transcribe talk.mp4                  print the text with times\n"
             "  sotto transcribe talk.mp4 -f srt,txt       write talk.srt and talk.txt\n"
             "  sotto transcribe *.mp3 -f all -o out       write six files for each input into "
             "out/\n"
             "  sotto transcribe -osrt -l de talk.mp4      write talk.mp4.srt; the language is "
             "German\n"
             "  ffmpeg ... -f wav - | sotto transcribe - -np -nt\n"
             "\n") +
         format_help(transcribe_flags(args), width) +
         "Exit codes: 0 every input succeeded, 1 wrong usage, 2 no or unreadable input, 3 model, 5 "
         "device,\n"
         "10 processing or output, 130 interrupted. With several inputs the rest is done and the "
         "worst is returned.\n";
}

}  // namespace sotto::cli
