#include "api/speakers.h"

#include <gtest/gtest.h>

#include <vector>

namespace sotto::api {
namespace {

/// Channels of three seconds: left speaks in the first, right in the second, both in the third.
ChannelSpeakers conversation() {
  audio::SampleBuffer left, right;
  const std::vector<float> loud(audio::kSampleRate, -0.5f), soft(audio::kSampleRate, 0.1f);
  for (const auto* part : {&loud, &soft, &loud})
    left.append(*part);
  for (const auto* part : {&soft, &loud, &loud})
    right.append(*part);
  return {std::move(left), std::move(right)};
}

std::string speaker(const ChannelSpeakers& speakers, double start, double end) {
  Segment segment;
  segment.start = start;
  segment.end = end;
  speakers.label(segment);
  return segment.speaker;
}

TEST(ChannelSpeakers, TheLouderChannelSpeaks) {
  const ChannelSpeakers speakers = conversation();
  EXPECT_EQ(speaker(speakers, 0, 1), "Speaker 0");
  EXPECT_EQ(speaker(speakers, 1, 2), "Speaker 1");
  EXPECT_EQ(speaker(speakers, 2, 3), "Speaker ?");
  EXPECT_EQ(speaker(speakers, 0.5, 1.2), "Speaker 0");
  EXPECT_EQ(speaker(speakers, 1.9, 99), "Speaker ?");
  EXPECT_EQ(speaker(speakers, 5, 4), "Speaker ?");
}

TEST(ChannelSpeakers, OneChannelHasNoSpeakers) {
  const ChannelSpeakers speakers({}, {});
  EXPECT_FALSE(speakers.is_stereo());
  EXPECT_EQ(speaker(speakers, 0, 1), "");
}

}  // namespace
}  // namespace sotto::api
