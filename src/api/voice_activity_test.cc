#include "api/voice_activity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace sotto::api {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr int64_t kSecond = audio::kSampleRate;
constexpr double kExact = 1e-9;

/// Speech in seconds 10 to 20 and 50 to 60 of 100, padding included.
SpeechParts two_parts(const TranscribeOptions& options) {
  const std::vector<vad::Span> spans = {{10 * kSecond, 20 * kSecond}, {50 * kSecond, 60 * kSecond}};
  return {spans, 100 * kSecond, options};
}

TEST(SpeechParts, LeaveOutLongSilenceAndSayWhere) {
  const SpeechParts parts = two_parts({});
  EXPECT_FALSE(parts.is_whole());
  EXPECT_EQ(parts.map().joined_samples(), 20 * kSecond);
  const std::vector<DroppedSpan> left_out = parts.left_out();
  ASSERT_EQ(left_out.size(), 3U);
  EXPECT_THAT(left_out[1].start, DoubleNear(20, kExact));
  EXPECT_THAT(left_out[1].end, DoubleNear(50, kExact));
  EXPECT_EQ(left_out[1].reason, "vad");
}

TEST(SpeechParts, KeepShortSilence) {
  TranscribeOptions options;
  options.vad.min_gap_s = 41;
  EXPECT_TRUE(two_parts(options).is_whole());
}

TEST(SpeechParts, WithoutSpeechNothingIsHeard) {
  const SpeechParts parts({}, 30 * kSecond, {});
  EXPECT_EQ(parts.map().joined_samples(), 0);
  EXPECT_EQ(parts.left_out().size(), 1U);
}

TEST(SpeechParts, RestoreTimesOfSegmentsWordsAndTokens) {
  Segment segment;
  segment.seek = 1000;  // 10 s: the second part begins there
  segment.start = 9.8;  // in the first part's padding: the text is of the second
  segment.end = 15;
  segment.tokens.resize(1);
  segment.tokens[0].start = 9.9;
  segment.tokens[0].end = 11;
  const SpeechParts parts = two_parts({});
  parts.restore(segment);
  EXPECT_EQ(segment.seek, 5000);
  EXPECT_THAT(segment.start, DoubleNear(50, kExact));
  EXPECT_THAT(segment.end, DoubleNear(55, kExact));
  EXPECT_THAT(segment.tokens[0].start, DoubleNear(50, kExact));
  EXPECT_THAT(segment.tokens[0].end, DoubleNear(51, kExact));
}

TEST(SpeechParts, AWordNeverSpansWhatWasLeftOut) {
  Segment segment;
  segment.start = 8;
  segment.end = 12;
  Word first, second;
  first.start = 8;
  first.end = 11;  // two seconds before the joint, one after it
  second.start = 11;
  second.end = 12;
  segment.words = {first, second};
  two_parts({}).restore(segment);
  EXPECT_THAT(segment.words[0].start, DoubleNear(18, kExact));
  EXPECT_THAT(segment.words[0].end, DoubleNear(20, kExact));
  EXPECT_THAT(segment.words[1].start, DoubleNear(51, kExact));
  EXPECT_THAT(segment.start, DoubleNear(18, kExact));
  EXPECT_THAT(segment.end, DoubleNear(52, kExact));
}

TEST(SpeechParts, ClipsMoveWithTheSpeechInThem) {
  TranscribeOptions options;
  options.clips = {{0, 5}, {15, 55}, {58, -1}};
  const SpeechParts parts = two_parts(options);
  EXPECT_EQ(parts.map().joined_samples(), 12 * kSecond);
  EXPECT_THAT(parts.clips(), ElementsAre(Pair(0.0, 10.0), Pair(10.0, 12.0)));
  EXPECT_THAT(two_parts({}).clips(), IsEmpty()) << "none were asked for";
}

TEST(SpeechParts, RestoreTimesOfReports) {
  const SpeechParts parts = two_parts({});
  DroppedSpan dropped{0, 10, "no_speech", ""};
  RetriedSpan retried{10, 12, "logprob", 0.2f};
  parts.restore(dropped);
  parts.restore(retried);
  EXPECT_THAT(dropped.start, DoubleNear(10, kExact));
  EXPECT_THAT(dropped.end, DoubleNear(20, kExact));
  EXPECT_THAT(retried.start, DoubleNear(50, kExact));
  EXPECT_THAT(retried.end, DoubleNear(52, kExact));
}

TEST(VoiceActivity, MayBeAbsentUnlessItIsAskedFor) {
  VoiceActivity absent("/no/such/folder");
  audio::SampleBuffer samples;
  std::vector<std::string> warnings;
  TranscribeOptions options;
  options.vad_mode = VadMode::kOff;
  EXPECT_FALSE(absent.find(samples, options, {}, warnings)->has_value());
  options.vad_mode = VadMode::kOn;
  EXPECT_EQ(absent.find(samples, options, {}, warnings).status().code(), StatusCode::kNotFound);
  EXPECT_THAT(warnings, IsEmpty());
}

TEST(VoiceActivity, WarnsOnceWhenItIsNotInstalled) {
  ::setenv("SOTTO_HOME", "/no/such/folder", 1);
  VoiceActivity absent("auto");
  audio::SampleBuffer samples;
  std::vector<std::string> warnings;
  EXPECT_FALSE(absent.find(samples, {}, {}, warnings)->has_value());
  EXPECT_FALSE(absent.find(samples, {}, {}, warnings)->has_value());
  EXPECT_EQ(warnings.size(), 1U);
  TranscribeOptions options;
  options.vad_mode = VadMode::kOn;
  EXPECT_EQ(absent.find(samples, options, {}, warnings).status().code(), StatusCode::kNotFound);
}

TEST(VoiceActivity, RefusesWrongOptions) {
  VoiceActivity activity("auto");
  audio::SampleBuffer samples;
  std::vector<std::string> warnings;
  TranscribeOptions options;
  options.vad.threshold = 2;
  EXPECT_EQ(activity.find(samples, options, {}, warnings).status().code(),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sotto::api
