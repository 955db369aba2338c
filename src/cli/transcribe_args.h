// What a command line of `sotto transcribe` asks for, in either family of flags: whisper-cli's (-f
// FILE -osrt -bs 5) and openai-whisper's (FILE -f srt --beam_size 5).
#ifndef SOTTO_CLI_TRANSCRIBE_ARGS_H_
#define SOTTO_CLI_TRANSCRIBE_ARGS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.h"
#include "cli/vad_flags.h"
#include "sotto/status.h"
#include "sotto/transcribe.h"
#include "transcript/writers.h"

namespace sotto::cli {

/// One document that each input gets.
struct OutputRequest {
  transcript::Format format = transcript::Format::kTxt;
  /// How the file is named when nothing else says: "talk.mp4.srt" beside the input, as whisper-cli
  /// does, or "talk.srt" in the current folder, as openai-whisper does.
  bool keep_extension = false;
};

/// What appears on the terminal while the work runs.
struct DisplayOptions {
  bool lines = true;            ///< Segments on standard output as they become final
  bool timestamps = true;       ///< "[00:00:00.000 --> 00:00:10.660]   text"; else the bare text
  bool special_tokens = false;  ///< Timestamp tokens, too
  bool colours = false;         ///< Tokens from red (unsure) to green (sure)
  bool confidence = false;      ///< Unsure tokens inverse or underlined
  bool progress_lines = false;  ///< "progress =  15%" on standard error
  bool quiet = false;           ///< Nothing on standard error but errors
};

struct TranscribeArgs {
  TranscribeArgs() = default;
  TranscribeArgs(const TranscribeArgs&) = delete;  // the flag table points into it
  TranscribeArgs& operator=(const TranscribeArgs&) = delete;

  std::vector<std::string> inputs;
  std::string raw_format;
  int raw_rate = 16000;
  int raw_channels = 1;

  std::string model;      ///< Name or path; empty: the best installed one
  std::string model_dir;  ///< Searched for `model` first
  std::string server;     ///< URL of the server that does the work
  bool local = false;     ///< Not even a running server of this user
  LoadOptions load;
  TranscribeOptions options;
  VadFlags vad;

  std::vector<OutputRequest> outputs;
  std::vector<std::string>
      output_names;           ///< -of: one an input, without extension; "-" is standard output
  std::string output_folder;  ///< -o; "-" is standard output
  transcript::WriterOptions writer;
  int max_segment_length = 0;  ///< Characters; 0: as the model cuts
  DisplayOptions display;

  bool detect_only = false;
  bool stats = false;
  bool help = false;
  bool version = false;

  /// Flags that were taken but change nothing here, each as one sentence.
  std::vector<std::string> notes;

  // Raw values that complete() turns into members of `options`.
  std::string language;
  std::string languages;
  std::string vocabulary;  ///< File
  std::string task;
  bool translate = false;
  float first_temperature = 0;
  std::optional<float> temperature_step = 0.2f;
  int offset_ms = 0;
  int duration_ms = 0;
  int first_index = 0;
  std::string clip_timestamps;
  std::string suppress_tokens;
  bool json = false;
};

/// The flag table over `args`, which must outlive it.
std::vector<FlagSection> transcribe_flags(TranscribeArgs& args);

/// Adds the formats of a list. "all" is txt, srt, vtt, tsv, csv and json: OpenAI's five and csv.
Status add_formats(TranscribeArgs& args, const FlagUse& use);

/// Reads a command line (without "sotto transcribe"). A single argument @FILE stands for the lines
/// of FILE.
Status parse_transcribe_args(std::span<const std::string> arguments, TranscribeArgs& args);

/// Parts of a list joined by commas, empty ones left out.
std::vector<std::string> split_list(std::string_view text);

/// True when every part of the list is an output format or "all".
bool is_format_list(std::string_view text);

/// What --help prints.
std::string transcribe_help(int width);

}  // namespace sotto::cli

#endif  // SOTTO_CLI_TRANSCRIBE_ARGS_H_
