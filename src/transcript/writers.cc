#include "transcript/writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "transcript/formats.h"
#include "transcript/tidy.h"

namespace sotto::transcript {
namespace {

struct Name {
  std::string_view name;
  Format format;
};

constexpr std::array<Name, 11> kNames = {{
    {"txt", Format::kTxt},
    {"text", Format::kTxt},
    {"srt", Format::kSrt},
    {"vtt", Format::kVtt},
    {"tsv", Format::kTsv},
    {"csv", Format::kCsv},
    {"lrc", Format::kLrc},
    {"json", Format::kJson},
    {"json-cli", Format::kJsonCli},
    {"json-full", Format::kJsonFull},
    {"verbose-json", Format::kVerboseJson},
}};

std::string names() {
  std::string list;
  for (const Name& name : kNames)
    list += (list.empty() ? "" : ", ") + std::string(name.name);
  return list;
}

}  // namespace

Result<Format> parse_format(std::string_view name) {
  std::string wanted(name);
  for (char& c : wanted) {
    c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const auto found = std::find_if(kNames.begin(), kNames.end(),
                                  [&wanted](const Name& known) { return known.name == wanted; });
  if (found == kNames.end()) {
    return invalid_argument("\"" + std::string(name) + "\" is no output format; there are " +
                            names());
  }
  return found->format;
}

std::string_view file_extension(Format format) {
  switch (format) {
    case Format::kTxt:
      return "txt";
    case Format::kSrt:
      return "srt";
    case Format::kVtt:
      return "vtt";
    case Format::kTsv:
      return "tsv";
    case Format::kCsv:
      return "csv";
    case Format::kLrc:
      return "lrc";
    case Format::kJson:
    case Format::kJsonCli:
    case Format::kJsonFull:
    case Format::kVerboseJson:
      break;
  }
  return "json";
}

std::string write(const Transcript& transcript, Format format, const WriterOptions& options) {
  const Transcript tidied = tidy(transcript);
  switch (format) {
    case Format::kTxt:
      return write_txt(tidied);
    case Format::kSrt:
      return write_srt(tidied, options);
    case Format::kVtt:
      return write_vtt(tidied, options);
    case Format::kTsv:
      return write_tsv(tidied);
    case Format::kCsv:
      return write_csv(tidied);
    case Format::kLrc:
      return write_lrc(tidied);
    case Format::kJson:
      return write_json(tidied, options);
    case Format::kJsonCli:
      return write_cli_json(tidied, options, /*full=*/false);
    case Format::kJsonFull:
      return write_cli_json(tidied, options, /*full=*/true);
    case Format::kVerboseJson:
      break;
  }
  return write_verbose_json(tidied, options);
}

std::string format_time(double seconds, char separator) {
  const int64_t ms = to_ms(seconds);
  return fmt::format("{:02}:{:02}:{:02}{}{:03}", ms / 3'600'000, ms / 60'000 % 60, ms / 1000 % 60,
                     separator, ms % 1000);
}

}  // namespace sotto::transcript
