// Transcript -> txt, srt, vtt, tsv, csv, lrc, json, json-full. Byte-exact rules: docs/formats.md.
#ifndef SOTTO_TRANSCRIPT_WRITERS_H_
#define SOTTO_TRANSCRIPT_WRITERS_H_

#include <string>
#include <string_view>
#include <vector>

#include "sotto/status.h"
#include "sotto/transcript.h"

namespace sotto::transcript {

enum class Format {
  kTxt,
  kSrt,
  kVtt,
  kTsv,
  kCsv,
  kLrc,
  kJson,         ///< openai-whisper's object, one line
  kJsonCli,      ///< whisper-cli's -oj, tab-indented
  kJsonFull,     ///< whisper-cli's -ojf: with tokens
  kVerboseJson,  ///< OpenAI API's verbose_json
};

/// "txt"/"text", "srt", "vtt", "tsv", "csv", "lrc", "json", "json-full", "verbose_json".
Result<Format> parse_format(std::string_view name);
/// "txt", "srt", …; both JSON shapes of whisper-cli and openai-whisper give "json".
std::string_view file_extension(Format format);

struct WriterOptions {
  // Line rules of openai-whisper; need word times. 0 or less: off.
  int max_line_width = 0;
  int max_line_count = 0;
  int max_words_per_line = 0;
  bool highlight_words = false;
  bool word_granularity = false;    ///< kVerboseJson: top-level "words"
  bool segment_granularity = true;  ///< kVerboseJson: "segments"
  bool pretty = false;              ///< kJson: indented
  int first_index = 1;              ///< srt: number of the first cue
  // kJsonCli, kJsonFull: the header whisper-cli writes.
  std::string model_type, model_path, system_info;
  bool model_multilingual = true;
};

/// The whole document. Always valid UTF-8 (broken sequences become U+FFFD) and, for JSON, free of
/// NaN.
std::string write(const Transcript& transcript, Format format, const WriterOptions& options);

/// "00:01:01,234" with the given decimal separator; hours always. Seconds are rounded to the
/// nearest ms.
std::string format_time(double seconds, char separator);

}  // namespace sotto::transcript

#endif  // SOTTO_TRANSCRIPT_WRITERS_H_
