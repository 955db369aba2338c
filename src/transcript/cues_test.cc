#include "transcript/cues.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sotto::transcript {
namespace {

using nlohmann::json;
using testing::ElementsAre;

std::string as_is(std::string_view text) {
  return std::string(text);
}

/// Words of half a second, one after the other from `start`.
Segment spoken(double start, const std::vector<std::string>& words) {
  Segment segment;
  segment.start = start;
  for (const std::string& word : words) {
    segment.words.push_back({word, start, start + 0.5, 1});
    segment.text += word;
    start += 0.5;
  }
  segment.end = start;
  return segment;
}

std::vector<std::string> texts(const std::vector<Segment>& segments, const WriterOptions& options) {
  Transcript transcript;
  transcript.segments = segments;
  std::vector<std::string> out;
  for (const Cue& cue : make_cues(transcript, options, as_is))
    out.push_back(cue.text);
  return out;
}

TEST(Cues, SegmentsWithoutWordsAreCuesOfTheirOwn) {
  Segment plain;
  plain.text = " no words --> here\n";
  WriterOptions options;
  options.max_line_width = 30;
  options.max_line_count = 2;
  EXPECT_THAT(texts({spoken(0, {" a", " b"}), plain, spoken(2, {" c"})}, options),
              ElementsAre("a b", "no words -> here", "c"));
}

TEST(Cues, ANewSpeakerBeginsACue) {
  WriterOptions options;
  options.max_line_width = 30;
  options.max_line_count = 2;
  std::vector<Segment> segments = {spoken(0, {" a"}), spoken(1, {" b"})};
  EXPECT_THAT(texts(segments, options), ElementsAre("a b"));
  segments[1].speaker = "B";
  EXPECT_THAT(texts(segments, options), ElementsAre("a", "b"));
}

TEST(Cues, EmptyWordsAreLeftOut) {
  EXPECT_THAT(texts({spoken(0, {" ", " a", "", "\n", " b"})}, {}), ElementsAre("a b"));
  EXPECT_TRUE(texts({spoken(0, {" "})}, {}).empty());
}

TEST(Cues, AnArrowMadeOfWordsIsBroken) {
  EXPECT_THAT(texts({spoken(0, {" a", " --", ">", " b"})}, {}), ElementsAre("a -> b"));
}

TEST(Cues, HighlightMarksInsideEscapedText) {
  Transcript transcript;
  transcript.segments = {spoken(0, {" <b>"})};
  WriterOptions options;
  options.highlight_words = true;
  const auto cues = make_cues(transcript, options, [](std::string_view text) {
    std::string out;
    for (const char c : text)
      out += c == '<' ? std::string("&lt;") : std::string(1, c);
    return out;
  });
  ASSERT_EQ(cues.size(), 1U);
  EXPECT_EQ(cues[0].text, "<u>&lt;b></u>");
}

// Made by openai-whisper's own writer (tools/golden/make_subtitle_golden.py).
TEST(Cues, AgreeWithOpenAiWhisper) {
  std::ifstream file(SOTTO_GOLDEN_SRT);
  const json cases = json::parse(file, nullptr, false);
  ASSERT_TRUE(cases.is_array());
  ASSERT_GT(cases.size(), 30U);
  for (const json& item : cases) {
    const json& rules = item["options"];
    WriterOptions options;
    options.max_line_width = rules.value("max_line_width", 0);
    options.max_line_count = rules.value("max_line_count", 0);
    options.max_words_per_line = rules.value("max_words_per_line", 0);
    options.highlight_words = rules.value("highlight_words", false);
    Transcript transcript;
    for (const json& from : item["segments"]) {
      Segment segment;
      segment.start = from["start"];
      segment.end = from["end"];
      segment.text = from["text"];
      for (const json& word : from["words"]) {
        segment.words.push_back({word["word"], word["start"], word["end"], 1});
      }
      transcript.segments.push_back(segment);
    }
    EXPECT_EQ(write(transcript, Format::kSrt, options), item["srt"].get<std::string>()) << rules;
  }
}

}  // namespace
}  // namespace sotto::transcript
