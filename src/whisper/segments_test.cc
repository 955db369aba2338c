#include "whisper/segments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "whisper/testing/fake_model.h"

namespace sotto::whisper {
namespace {

using testing::FakeModel;

class SegmentsTest : public ::testing::Test {
 protected:
  SegmentsTest() : model_({}) {}

  WindowSegments split(const std::vector<int>& ids, FrameSpan span = {1000, 3000}) {
    WindowText decoded;
    decoded.hypothesis.tokens = ids;
    decoded.hypothesis.logprobs.assign(ids.size(), -0.5f);
    decoded.avg_logprob = -0.25f;
    decoded.temperature = 0.4f;
    return split_segments(decoded, span, model_.tokenizer(), model_.tokens());
  }

  [[nodiscard]] int t(double seconds) const { return model_.time(seconds); }
  [[nodiscard]] int w(std::string_view text) const { return model_.word(text); }

  FakeModel model_;
};

TEST_F(SegmentsTest, SplitsAtPairsAndGoesOnAtTheLastOne) {
  const WindowSegments window =
      split({t(0), w(" one"), t(2), t(2.5), w(" two"), w(" three"), t(5), t(5.2), w(" four")});
  ASSERT_EQ(window.segments.size(), 2u);
  EXPECT_EQ(window.segments[0].text, " one");
  EXPECT_DOUBLE_EQ(window.segments[0].start, 10.0);
  EXPECT_DOUBLE_EQ(window.segments[0].end, 12.0);
  EXPECT_EQ(window.segments[1].text, " two three");
  EXPECT_DOUBLE_EQ(window.segments[1].start, 12.5);
  EXPECT_DOUBLE_EQ(window.segments[1].end, 15.0);
  // The unfinished " four" is left to the next window: it begins where the end of " three" is.
  EXPECT_EQ(window.next, 1000 + 500);
  EXPECT_FALSE(window.ends_with_single_timestamp);
}

TEST_F(SegmentsTest, ASingleTimestampAtTheEndUsesTheWindowUp) {
  const WindowSegments window = split({t(0), w(" one"), t(2), t(2), w(" two"), t(5)});
  ASSERT_EQ(window.segments.size(), 2u);
  EXPECT_DOUBLE_EQ(window.segments[1].end, 15.0);
  EXPECT_TRUE(window.ends_with_single_timestamp);
  EXPECT_EQ(window.next, 4000);
}

TEST_F(SegmentsTest, APairAtTheEndGoesOnThere) {
  const WindowSegments window = split({t(0), w(" one"), t(2), t(2)});
  ASSERT_EQ(window.segments.size(), 1u);
  EXPECT_EQ(window.segments[0].text, " one");
  EXPECT_EQ(window.next, 1200);
}

TEST_F(SegmentsTest, WithoutPairsTheWindowIsOneSegment) {
  WindowSegments window = split({t(0.5), w(" one"), t(2)});
  ASSERT_EQ(window.segments.size(), 1u);
  EXPECT_DOUBLE_EQ(window.segments[0].start, 10.0);  // Of the window, as openai/whisper has it
  EXPECT_DOUBLE_EQ(window.segments[0].end, 12.0);
  EXPECT_EQ(window.next, 4000);

  window = split({t(0), w(" one")});
  EXPECT_DOUBLE_EQ(window.segments[0].end, 40.0);

  window = split({w(" one")}, {1000, 730});
  EXPECT_DOUBLE_EQ(window.segments[0].end, 17.3);
  EXPECT_EQ(window.next, 1730);
}

TEST_F(SegmentsTest, TokensCarryTextTimeAndProbability) {
  const Segment segment = split({t(0), w(" one"), t(2)}).segments.front();
  ASSERT_EQ(segment.tokens.size(), 3u);
  EXPECT_EQ(segment.tokens[0].text, "[_TT_0]");
  EXPECT_EQ(segment.tokens[1].text, " one");
  EXPECT_EQ(segment.tokens[2].text, "[_TT_100]");
  EXPECT_FLOAT_EQ(segment.tokens[1].logprob, -0.5f);
  EXPECT_FLOAT_EQ(segment.tokens[1].probability, std::exp(-0.5f));
  EXPECT_DOUBLE_EQ(segment.tokens[1].start, segment.start);
  EXPECT_DOUBLE_EQ(segment.tokens[1].end, segment.end);
  EXPECT_EQ(segment.seek, 1000);
  EXPECT_FLOAT_EQ(segment.avg_logprob, -0.25f);
  EXPECT_FLOAT_EQ(segment.temperature, 0.4f);
}

TEST_F(SegmentsTest, NothingDecodedIsOneEmptySegment) {
  const WindowSegments window = split({});
  ASSERT_EQ(window.segments.size(), 1u);
  EXPECT_EQ(window.segments[0].text, "");
  EXPECT_EQ(window.next, 4000);
}

TEST_F(SegmentsTest, HostileTimestampsStillMoveOn) {
  // The rules never let these through; a model without timestamps training under odd options might.
  EXPECT_EQ(split({t(0), t(0)}).next, 4000);
  EXPECT_EQ(split({t(0), t(0), w(" one"), t(0), t(0)}).next, 4000);
  EXPECT_EQ(split({t(0), w(" one"), t(30), t(30)}, {1000, 500}).next, 1500)
      << "never beyond the window's audio";
  EXPECT_EQ(split({w(" one"), t(3), t(3), w(" two")}).segments.front().start, 10.0);
}

TEST_F(SegmentsTest, AnyTokensMoveOnWithinTheWindow) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<int> ids(random() % 12);
    for (int& id : ids)
      id = random() % 2 == 0 ? t(0) + static_cast<int>(random() % 1501) : w(" one");
    const FrameSpan span{static_cast<int64_t>(random() % 5000),
                         1 + static_cast<int64_t>(random() % 3000)};
    const WindowSegments window = split(ids, span);
    EXPECT_GT(window.next, span.begin);
    EXPECT_LE(window.next, span.end());
    EXPECT_FALSE(window.segments.empty());
  }
}

std::vector<std::string> joined(const std::vector<std::string>& texts) {
  std::vector<Segment> segments(texts.size());
  for (size_t i = 0; i < texts.size(); ++i)
    segments[i].text = texts[i];
  join_split_characters(segments);
  std::vector<std::string> result;
  for (const Segment& segment : segments)
    result.push_back(segment.text);
  return result;
}

TEST(JoinSplitCharacters, MovesTheRestOfACharacterToItsBeginning) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(joined({"a\xE4\xBD",
                    "\xA0"
                    "b"}),
            (Texts{"a\xE4\xBD\xA0", "b"}));
  EXPECT_EQ(joined({"a\xE4",
                    "\xBD\xA0"
                    "b"}),
            (Texts{"a\xE4\xBD\xA0", "b"}));
  EXPECT_EQ(joined({"a", "b"}), (Texts{"a", "b"}));
  // Never finished: dropped at the end of a segment, marked inside.
  EXPECT_EQ(joined({"a\xE4\xBD", "b"}), (Texts{"a", "b"}));
  EXPECT_EQ(joined({"a\xE4\xBD"}), (Texts{"a"}));
  EXPECT_EQ(joined({"a\xE4\xBD"
                    "b"}),
            (Texts{"a\xEF\xBF\xBD"
                   "b"}));
  EXPECT_EQ(joined({}), Texts{});
}

}  // namespace
}  // namespace sotto::whisper
