// Transcript -> txt, srt, vtt, tsv, csv, lrc and the JSON shapes of other programs. Byte-exact
// rules: docs/formats.md.
#ifndef SOTTO_TRANSCRIPT_WRITERS_H_
#define SOTTO_TRANSCRIPT_WRITERS_H_

#include <string>
#include <string_view>

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

/// "txt"/"text", "srt", "vtt", "tsv", "csv", "lrc", "json", "json-cli", "json-full",
/// "verbose_json"; any case, "-" and "_" alike. kInvalidArgument lists them.
Result<Format> parse_format(std::string_view name);
/// "txt", "srt", …; all JSON shapes give "json".
std::string_view file_extension(Format format);

struct WriterOptions {
  // Line rules of openai-whisper for srt and vtt; need word times. 0 or less: off.
  int max_line_width = 0;  ///< Characters
  int max_line_count = 0;
  int max_words_per_line = 0;
  bool highlight_words = false;     ///< A cue for each word, which is underlined in it
  bool word_granularity = false;    ///< kVerboseJson: "words"
  bool segment_granularity = true;  ///< kVerboseJson: "segments"
  bool pretty = false;              ///< kJson: indented
  int first_index = 1;              ///< srt: number of the first cue
  // kJsonCli, kJsonFull: the header whisper-cli writes.
  std::string model_type, model_path, system_info;
  bool model_multilingual = true;
  std::string requested_language = "auto";  ///< Whisper code or "auto"
  ModelSizes model_sizes;
};

/// The whole document, its last line ended. Always valid UTF-8 (broken sequences become U+FFFD);
/// JSON is free of NaN. Whatever the transcript's times are, those written are rounded to the
/// nearest ms, starts do not decrease, no end is before its start or after the recording's end.
std::string write(const Transcript& transcript, Format format, const WriterOptions& options);

/// "00:01:01,234" with the given decimal separator; hours always. Seconds are rounded to the
/// nearest ms; what is no time (negative, NaN) reads 0.
std::string format_time(double seconds, char separator);

}  // namespace sotto::transcript

#endif  // SOTTO_TRANSCRIPT_WRITERS_H_
