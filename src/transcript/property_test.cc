// Random and hostile transcripts: every format must parse back with the same number of items and
// times in order.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "transcript/tidy.h"
#include "transcript/writers.h"

namespace sotto::transcript {
namespace {

using nlohmann::json;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}

  size_t below(size_t n) { return engine_() % n; }

  double time() {
    switch (below(12)) {
      case 0:
        return std::numeric_limits<double>::quiet_NaN();
      case 1:
        return -std::numeric_limits<double>::infinity();
      case 2:
        return 1e300;
      case 3:
        return -5;
      default:
        return static_cast<double>(below(700'000)) / 10'007.0;
    }
  }

  float number() {
    return below(6) == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(time());
  }

  std::string text() {
    static const std::vector<std::string> kParts = {
        " word", "日本",     "\"",
        "\\",    ",",        "\t",
        "\n",    "\r\n",     "\n\n",
        "-->",   "<v X>",    "&",
        "\xFF",  "\xE6\x97", std::string(1, '\0'),
        "\x1b",  "🎉",        " 1\n00:00:01,000 --> 00:00:02,000\n",
        "[",     ";",        "  "};
    std::string out = below(3) == 0 ? "" : " ";
    for (size_t n = below(8); n > 0; --n)
      out += kParts[below(kParts.size())];
    return out;
  }

  Transcript transcript() {
    Transcript t;
    t.language = below(2) == 0 ? "de" : text();
    t.duration = below(3) == 0 ? 0 : time();
    t.text = text();
    t.language_probability = number();
    for (size_t n = below(6); n > 0; --n)
      t.segments.push_back(segment());
    if (below(2) == 0) t.dropped.push_back({time(), time(), text(), text()});
    return t;
  }

 private:
  Segment segment() {
    Segment s;
    s.start = time();
    s.end = time();
    s.text = text();
    s.avg_logprob = number();
    s.temperature = number();
    if (below(3) == 0) s.speaker = text();
    for (size_t n = below(5); n > 0; --n)
      s.tokens.push_back({static_cast<int>(n), text(), time(), time(), number(), number()});
    for (size_t n = below(2) * below(6); n > 0; --n)
      s.words.push_back({text(), time(), time(), number()});
    return s;
  }

  std::mt19937 engine_;
};

/// Items in order, none ends before it starts or after `duration` (0: not known).
void expect_in_order(const std::vector<std::pair<int64_t, int64_t>>& times, int64_t duration) {
  int64_t previous = 0;
  for (const auto& [start, end] : times) {
    EXPECT_GE(start, previous);
    EXPECT_GE(end, start);
    if (duration > 0) {
      EXPECT_LE(end, duration);
    }
    previous = start;
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  lines.pop_back();  // every document ends its last line
  return lines;
}

int64_t parse_clock(const std::string& text, char separator) {
  long hours = 0;
  long minutes = 0;
  long seconds = 0;
  long ms = 0;
  char found = 0;
  EXPECT_EQ(
      std::sscanf(text.c_str(), "%ld:%2ld:%2ld%c%3ld", &hours, &minutes, &seconds, &found, &ms), 5)
      << text;
  EXPECT_EQ(found, separator);
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms;
}

/// Reads cues of srt or vtt after its header: [number,] times, text lines, empty line.
std::vector<std::pair<int64_t, int64_t>> parse_cues(const std::vector<std::string>& lines,
                                                    size_t at, bool srt) {
  std::vector<std::pair<int64_t, int64_t>> times;
  while (at < lines.size()) {
    if (srt) {
      EXPECT_EQ(lines[at++], std::to_string(times.size() + 1));
    }
    const size_t arrow = lines[at].find(" --> ");
    if (arrow == std::string::npos) {
      ADD_FAILURE() << "no times: " << lines[at];
      return times;
    }
    times.emplace_back(parse_clock(lines[at].substr(0, arrow), srt ? ',' : '.'),
                       parse_clock(lines[at].substr(arrow + 5), srt ? ',' : '.'));
    ++at;
    EXPECT_FALSE(lines[at].empty());
    while (at < lines.size() && !lines[at].empty()) {
      EXPECT_EQ(lines[at].find("-->"), std::string::npos);
      ++at;
    }
    ++at;
  }
  return times;
}

size_t segments_with_text(const Transcript& t) {
  size_t count = 0;
  for (const Segment& s : t.segments)
    count += one_line(utf8_repair(s.text)).empty() ? 0 : 1;
  return count;
}

class Properties : public testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    Random random(GetParam());
    transcript_ = random.transcript();
    duration_ = to_ms(transcript_.duration);
    options_.word_granularity = random.below(2) == 0;
    options_.pretty = random.below(2) == 0;
    options_.highlight_words = random.below(3) == 0;
    options_.max_line_width = static_cast<int>(random.below(3) * random.below(30));
    options_.max_line_count = static_cast<int>(random.below(3));
    options_.max_words_per_line = static_cast<int>(random.below(4));
  }

  std::string written(Format format) {
    std::string text = write(transcript_, format, options_);
    EXPECT_TRUE(utf8_valid(text));
    return text;
  }

  json written_json(Format format) {
    json value = json::parse(written(format), nullptr, false);
    EXPECT_FALSE(value.is_discarded());
    return value;
  }

  Transcript transcript_;
  int64_t duration_ = 0;
  WriterOptions options_;
};

TEST_P(Properties, SubtitlesParseBack) {
  expect_in_order(parse_cues(lines_of(written(Format::kSrt)), 0, true), duration_);
  const std::vector<std::string> vtt = lines_of(written(Format::kVtt));
  ASSERT_GE(vtt.size(), 2U);
  EXPECT_EQ(vtt[0], "WEBVTT");
  expect_in_order(parse_cues(vtt, 2, false), duration_);
  for (Segment& s : transcript_.segments)
    s.words.clear();
  EXPECT_EQ(parse_cues(lines_of(written(Format::kSrt)), 0, true).size(),
            segments_with_text(transcript_));
}

TEST_P(Properties, TablesParseBack) {
  const size_t rows = segments_with_text(transcript_);
  EXPECT_EQ(lines_of(written(Format::kTxt)).size(), rows);
  EXPECT_EQ(lines_of(written(Format::kLrc)).size(), rows + 1);
  const std::vector<std::string> tsv = lines_of(written(Format::kTsv));
  ASSERT_EQ(tsv.size(), rows + 1);
  std::vector<std::pair<int64_t, int64_t>> times;
  for (size_t i = 1; i < tsv.size(); ++i) {
    EXPECT_EQ(std::count(tsv[i].begin(), tsv[i].end(), '\t'), 2);
    times.emplace_back(std::stoll(tsv[i]), std::stoll(tsv[i].substr(tsv[i].find('\t') + 1)));
  }
  expect_in_order(times, duration_);
  const std::vector<std::string> csv = lines_of(written(Format::kCsv));
  ASSERT_EQ(csv.size(), rows + 1);
  for (const std::string& row : csv)
    EXPECT_EQ(std::count(row.begin(), row.end(), '"') % 2, 0) << row;
}

TEST_P(Properties, JsonParsesBack) {
  for (const Format format : {Format::kJson, Format::kVerboseJson}) {
    const json value = written_json(format);
    ASSERT_EQ(value["segments"].size(), transcript_.segments.size());
    std::vector<std::pair<int64_t, int64_t>> times;
    for (size_t i = 0; i < transcript_.segments.size(); ++i) {
      const json& segment = value["segments"][i];
      times.emplace_back(to_ms(segment["start"]), to_ms(segment["end"]));
      EXPECT_EQ(segment["text"], utf8_repair(transcript_.segments[i].text));
      EXPECT_EQ(segment["tokens"].size(), transcript_.segments[i].tokens.size());
      EXPECT_TRUE(segment["avg_logprob"].is_number_float());
    }
    expect_in_order(times, duration_);
  }
  const json full = written_json(Format::kJsonFull);
  ASSERT_EQ(full["transcription"].size(), transcript_.segments.size());
  std::vector<std::pair<int64_t, int64_t>> times;
  for (const json& segment : full["transcription"])
    times.emplace_back(segment["offsets"]["from"], segment["offsets"]["to"]);
  expect_in_order(times, duration_);
  EXPECT_EQ(written_json(Format::kJsonCli)["transcription"].size(), transcript_.segments.size());
}

INSTANTIATE_TEST_SUITE_P(Seeds, Properties, testing::Range(0U, 300U));

}  // namespace
}  // namespace sotto::transcript
