#include <fmt/format.h>

#include <algorithm>

#include "transcript/cues.h"
#include "transcript/formats.h"
#include "transcript/tidy.h"

namespace sotto::transcript {
namespace {

std::string as_is(std::string_view text) {
  return std::string(text);
}

/// WebVTT reads "&" and "<" as the beginning of a character reference or tag.
std::string vtt_escape(std::string_view text) {
  return replace_all(replace_all(text, "&", "&amp;"), "<", "&lt;");
}

std::string csv_quoted(std::string_view text) {
  return "\"" + replace_all(text, "\"", "\"\"") + "\"";
}

/// "[A]: " before a speaker's text, where the format has no place of its own for it.
std::string label(const std::string& speaker) {
  return speaker.empty() ? "" : "[" + speaker + "]: ";
}

/// Calls `use(segment, text)` for each segment that has text, given on one line.
template <typename Use>
void for_each_text(const Transcript& transcript, Use use) {
  for (const Segment& segment : transcript.segments) {
    if (const std::string text = one_line(segment.text); !text.empty()) use(segment, text);
  }
}

}  // namespace

std::string write_txt(const Transcript& transcript) {
  std::string out;
  for_each_text(transcript, [&out](const Segment& segment, const std::string& text) {
    out += label(segment.speaker) + text + "\n";
  });
  return out;
}

std::string write_srt(const Transcript& transcript, const WriterOptions& options) {
  std::string out;
  int64_t index = options.first_index;
  for (const Cue& cue : make_cues(transcript, options, as_is)) {
    out += fmt::format("{}\n{} --> {}\n{}{}\n\n", index++, format_time(cue.start, ','),
                       format_time(cue.end, ','), label(cue.speaker), cue.text);
  }
  return out;
}

std::string write_vtt(const Transcript& transcript, const WriterOptions& options) {
  std::string out = "WEBVTT\n\n";
  for (const Cue& cue : make_cues(transcript, options, vtt_escape)) {
    // A tag ends at the first ">", so that a name cannot hold one.
    const std::string voice = replace_all(vtt_escape(cue.speaker), ">", "&gt;");
    out +=
        fmt::format("{} --> {}\n{}{}\n\n", format_time(cue.start, '.'), format_time(cue.end, '.'),
                    voice.empty() ? "" : "<v " + voice + ">", cue.text);
  }
  return out;
}

std::string write_tsv(const Transcript& transcript) {
  std::string out = "start\tend\ttext\n";
  for_each_text(transcript, [&out](const Segment& segment, const std::string& text) {
    out += fmt::format("{}\t{}\t{}\n", to_ms(segment.start), to_ms(segment.end),
                       replace_all(text, "\t", " "));
  });
  return out;
}

std::string write_csv(const Transcript& transcript) {
  const bool speakers = std::any_of(transcript.segments.begin(), transcript.segments.end(),
                                    [](const Segment& s) { return !s.speaker.empty(); });
  std::string out = speakers ? "start,end,speaker,text\n" : "start,end,text\n";
  for_each_text(transcript, [&](const Segment& segment, const std::string& text) {
    out += fmt::format("{},{},{}{}\n", to_ms(segment.start), to_ms(segment.end),
                       speakers ? csv_quoted(segment.speaker) + "," : "", csv_quoted(text));
  });
  return out;
}

std::string write_lrc(const Transcript& transcript) {
  std::string out = "[by:sotto]\n";
  for_each_text(transcript, [&out](const Segment& segment, const std::string& text) {
    const int64_t ms = to_ms(segment.start);
    out += fmt::format("[{:02}:{:02}.{:02}]{}{}\n", ms / 60'000, ms / 1000 % 60, ms / 10 % 100,
                       label(segment.speaker), text);
  });
  return out;
}

}  // namespace sotto::transcript
