#include "whisper/hallucination.h"

#include <gtest/gtest.h>

namespace sotto::whisper {
namespace {

/// A segment of `count` words that share its time and have this probability.
Segment spoken(double start, double end, int count, float probability) {
  Segment segment;
  segment.start = start;
  segment.end = end;
  const double each = (end - start) / count;
  for (int i = 0; i < count; ++i) {
    segment.words.push_back({" w", start + i * each, start + (i + 1) * each, probability});
  }
  return segment;
}

Segment good(double start, double end) {
  return spoken(start, end, 4, 0.9f);
}
Segment bad(double start, double end) {
  return spoken(start, end, 4, 0.05f);
}

TEST(IsAnomalous, JudgesProbabilityAndDuration) {
  EXPECT_FALSE(is_anomalous(good(0, 2)));
  EXPECT_TRUE(is_anomalous(bad(0, 2)));
  EXPECT_TRUE(is_anomalous(spoken(0, 0.1, 4, 0.9f)));  // 25 ms a word
  EXPECT_TRUE(is_anomalous(spoken(0, 12, 2, 0.9f)));   // 6 s a word
  EXPECT_FALSE(is_anomalous(Segment()));
  Segment mixed = good(0, 2);
  mixed.words[0].probability = 0.01f;
  EXPECT_FALSE(is_anomalous(mixed));
  Segment marks = bad(0, 2);
  for (Word& word : marks.words)
    word.text = "!";
  EXPECT_TRUE(is_anomalous(marks)) << "nothing but punctuation";
}

constexpr FrameSpan kWindow{1000, 3000};  // 10 s .. 40 s

SilenceVerdict judge(const std::vector<Segment>& segments, double last_speech_s = 10) {
  return judge_silence(segments, kWindow, 40, 2.0, last_speech_s, 100000);
}

TEST(JudgeSilence, KeepsGoodText) {
  const SilenceVerdict verdict = judge({good(11, 13), good(20, 22)});
  EXPECT_EQ(verdict.keep, 2u);
  EXPECT_FALSE(verdict.next);
  EXPECT_FALSE(verdict.decode_again);
}

TEST(JudgeSilence, SkipsSilenceBeforeAnAnomalousFirstSegment) {
  const SilenceVerdict verdict = judge({bad(15, 17), good(17, 19)});
  EXPECT_TRUE(verdict.decode_again);
  EXPECT_EQ(verdict.next, 1500);
}

TEST(JudgeSilence, DropsAnAnomalyBetweenSilences) {
  const SilenceVerdict verdict = judge({good(11, 13), bad(20, 22), good(30, 32)});
  EXPECT_EQ(verdict.keep, 1u);
  EXPECT_EQ(verdict.next, 2000);
  EXPECT_FALSE(verdict.decode_again);
}

TEST(JudgeSilence, KeepsAnAnomalyInRunningSpeech) {
  EXPECT_EQ(judge({good(11, 20), bad(20, 22), good(22, 30)}).keep, 3u);
}

TEST(JudgeSilence, NearTheEndOfTheRecordingNothingIsLeft) {
  const SilenceVerdict verdict =
      judge_silence({good(11, 13), bad(20, 39)}, kWindow, 40, 2.0, 10, 4000);
  EXPECT_EQ(verdict.keep, 1u);
  EXPECT_EQ(verdict.next, 4000);
}

TEST(JudgeSilence, SegmentsWithoutWordsAreOverlooked) {
  EXPECT_EQ(judge({Segment(), good(11, 13), Segment()}).keep, 3u);
  EXPECT_EQ(judge({}).keep, 0u);
}

}  // namespace
}  // namespace sotto::whisper
