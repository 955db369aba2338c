#include "vad/time_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "vad/silero.h"

namespace sotto::vad {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using Edge = TimeMap::Edge;

VadOptions joined_with(double overlap_s, double joint_s) {
  VadOptions options;
  options.samples_overlap_s = overlap_s;
  options.joint_s = joint_s;
  return options;
}

audio::SampleBuffer ramp(int64_t n) {
  std::vector<float> x(static_cast<size_t>(n));
  std::iota(x.begin(), x.end(), 1.0f);
  audio::SampleBuffer buffer;
  buffer.append(x);
  return buffer;
}

TEST(TimeMap, EverySampleOfTheJoinedAudioLeadsBackToItsOrigin) {
  const std::vector<Span> spans = {{100, 70100}, {70150, 70151}, {90000, 200000}};
  for (const VadOptions& options :
       {joined_with(0, 0), joined_with(0.1, 0.1), joined_with(0.001, 0)}) {
    const TimeMap map(spans, 200500, options);
    const audio::SampleBuffer joined = map.join(ramp(200500));
    ASSERT_EQ(joined.size(), map.joined_samples());
    std::vector<float> x(static_cast<size_t>(joined.size()));
    joined.read(0, x);
    int64_t kept = 0;
    for (int64_t i = 0; i < joined.size(); ++i) {
      const float value = x[static_cast<size_t>(i)];
      if (value == 0.0f) continue;  // the silence of a joint
      ++kept;
      ASSERT_EQ(map.to_recording(i, Edge::kStart), static_cast<int64_t>(value) - 1)
          << "joined sample " << i;
    }
    EXPECT_EQ(kept, map.kept_samples());
  }
}

TEST(TimeMap, AtAJointStartAndEndPartWays) {
  const TimeMap map(std::vector<Span>{{1000, 2000}, {5000, 6000}}, 8000, joined_with(0, 0));
  EXPECT_EQ(map.joined_samples(), 2000);
  EXPECT_EQ(map.to_recording(999, Edge::kEnd), 1999);
  EXPECT_EQ(map.to_recording(1000, Edge::kEnd), 2000);
  EXPECT_EQ(map.to_recording(1000, Edge::kStart), 5000);
  EXPECT_EQ(map.to_recording(1001, Edge::kEnd), 5001);
  EXPECT_EQ(map.to_recording(0, Edge::kStart), 1000);
  EXPECT_EQ(map.to_recording(0, Edge::kEnd), 1000);
  EXPECT_EQ(map.to_recording(-5, Edge::kStart), 1000);
  EXPECT_EQ(map.to_recording(2000, Edge::kStart), 6000);
  EXPECT_EQ(map.to_recording(1 << 20, Edge::kEnd), 6000);
  EXPECT_DOUBLE_EQ(map.to_recording_seconds(1500 / 16000.0, Edge::kStart), 5500 / 16000.0);
}

TEST(TimeMap, WithinTheSilenceOfAJointToo) {
  const TimeMap map(std::vector<Span>{{1000, 2000}, {5000, 6000}}, 8000, joined_with(0, 0.1));
  EXPECT_EQ(map.joined_samples(), 3600);
  EXPECT_EQ(map.kept_samples(), 2000);
  EXPECT_EQ(map.to_recording(1800, Edge::kEnd), 2000);
  EXPECT_EQ(map.to_recording(1800, Edge::kStart), 5000);
  EXPECT_EQ(map.to_recording(2600, Edge::kStart), 5000);
  EXPECT_EQ(map.to_recording(2601, Edge::kStart), 5001);
}

TEST(TimeMap, OverlapNeverRepeatsSound) {
  const TimeMap map(std::vector<Span>{{0, 1000}, {1500, 2000}, {9000, 9100}}, 10000,
                    joined_with(0.1, 0));
  EXPECT_EQ(map.kept_samples(), 1500 + (500 + 1600) + 100);
  EXPECT_THAT(map.dropped(), ElementsAre(Span{3600, 9000}, Span{9100, 10000}));
}

TEST(TimeMap, WithoutSpeechEverythingIsDropped) {
  const TimeMap map({}, 1000, VadOptions());
  EXPECT_EQ(map.joined_samples(), 0);
  EXPECT_EQ(map.join(ramp(1000)).size(), 0);
  EXPECT_EQ(map.to_recording(10, Edge::kStart), 0);
  EXPECT_THAT(map.dropped(), ElementsAre(Span{0, 1000}));
  EXPECT_THAT(TimeMap(std::vector<Span>{{0, 1000}}, 1000, VadOptions()).dropped(), IsEmpty());
}

TEST(TimeMap, AnIntervalStaysOnOneSideOfAJointItHardlyCrosses) {
  const TimeMap map(std::vector<Span>{{1000, 2000}, {5000, 6000}}, 8000, joined_with(0, 0));
  EXPECT_EQ(map.to_recording({900, 1800}, 100), (Span{5000, 5800}));
  EXPECT_EQ(map.to_recording({200, 1100}, 100), (Span{1200, 2000}));
  EXPECT_EQ(map.to_recording({899, 1101}, 100), (Span{1899, 5101})) << "more than the margin";
  EXPECT_EQ(map.to_recording({100, 900}, 100), (Span{1100, 1900}));
  EXPECT_EQ(map.to_recording({0, 2000}, 100), (Span{1000, 6000}));
  EXPECT_EQ(map.to_recording({990, 990}, 100), (Span{1990, 1990}));
  EXPECT_EQ(map.to_recording({950, 1040}, 2000), (Span{1950, 2000}));
}

TEST(TimeMap, LeadsFromTheRecordingToTheJoinedAudio) {
  const TimeMap map(std::vector<Span>{{1000, 2000}, {5000, 6000}}, 8000, joined_with(0, 0));
  EXPECT_EQ(map.to_joined(0), 0);
  EXPECT_EQ(map.to_joined(1500), 500);
  EXPECT_EQ(map.to_joined(3000), 1000);
  EXPECT_EQ(map.to_joined(5001), 1001);
  EXPECT_EQ(map.to_joined(7000), 2000);
}

TEST(SpeechSpans, ShortGapsStayIn) {
  VadOptions options;
  options.min_gap_s = 1;  // 16000 samples
  const std::vector<Span> spans = {{15999, 20000}, {30000, 40000}, {56000, 60000}};
  EXPECT_THAT(without_short_gaps(spans, 75000, options),
              ElementsAre(Span{0, 40000}, Span{56000, 75000}));
  EXPECT_THAT(without_short_gaps(spans, 76000, options),
              ElementsAre(Span{0, 40000}, Span{56000, 60000}));
  EXPECT_THAT(without_short_gaps({}, 100, options), IsEmpty());
  options.min_gap_s = 0;
  EXPECT_THAT(without_short_gaps(spans, 75000, options), ElementsAreArray(spans));
}

TEST(SpeechSpans, IntersectKeepsWhatBothCover) {
  const std::vector<Span> a = {{0, 10}, {20, 30}, {40, 50}};
  EXPECT_THAT(intersect(a, std::vector<Span>{{5, 25}, {29, 45}}),
              ElementsAre(Span{5, 10}, Span{20, 25}, Span{29, 30}, Span{40, 45}));
  EXPECT_THAT(intersect(a, std::vector<Span>{{10, 20}}), IsEmpty());
  EXPECT_THAT(intersect(a, {}), IsEmpty());
}

TEST(SpeechSpans, PresetsAreValidAndNamed) {
  for (const VadPreset& preset : vad_presets()) {
    EXPECT_TRUE(check_vad_options(preset.options).ok()) << preset.name;
    EXPECT_TRUE(vad_preset(preset.name).ok());
  }
  EXPECT_EQ(vad_preset("faster-whisper")->min_silence_ms, 2000);
  EXPECT_FLOAT_EQ(vad_preset("quiet")->threshold, 0.12f);
  const Status unknown = vad_preset("loud").status();
  EXPECT_EQ(unknown.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(unknown.message(), HasSubstr("whisper.cpp"));
}

TEST(SpeechSpans, QuietPresetEndsInTheNoiseOfARoom) {
  std::vector<float> probabilities(200, 0.05f);
  std::fill(probabilities.begin() + 50, probabilities.begin() + 100, 0.2f);
  const auto spans = speech_spans(probabilities, 200 * kChunkSamples, *vad_preset("quiet"));
  EXPECT_THAT(spans, ElementsAre(Span{50 * kChunkSamples - 480, 100 * kChunkSamples + 480}));
  EXPECT_THAT(speech_spans(probabilities, 200 * kChunkSamples, *vad_preset("whisper.cpp")),
              IsEmpty());
}

TEST(SpeechSpans, StayWithinTheRecording) {
  const std::vector<float> probabilities(10, 0.9f);
  EXPECT_THAT(speech_spans(probabilities, 5000, VadOptions()), ElementsAre(Span{0, 5000}));
  EXPECT_THAT(speech_spans({}, 0, VadOptions()), IsEmpty());
}

TEST(SpeechSpans, RefusesWrongOptions) {
  const auto refused = [](auto change) {
    VadOptions options;
    change(options);
    return check_vad_options(options).code() == StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused([](VadOptions& o) { o.threshold = 1.1f; }));
  EXPECT_TRUE(
      refused([](VadOptions& o) { o.threshold = std::numeric_limits<float>::quiet_NaN(); }));
  EXPECT_TRUE(refused([](VadOptions& o) { o.neg_threshold = 0.6f; }));
  EXPECT_TRUE(refused([](VadOptions& o) { o.min_speech_ms = -1; }));
  EXPECT_TRUE(refused([](VadOptions& o) { o.speech_pad_ms = -1; }));
  EXPECT_TRUE(refused([](VadOptions& o) { o.max_speech_s = 0.1; }));
  EXPECT_TRUE(refused([](VadOptions& o) { o.max_speech_s = std::nan(""); }));
  EXPECT_TRUE(refused([](VadOptions& o) { o.samples_overlap_s = -0.1; }));
  EXPECT_TRUE(refused([](VadOptions& o) { o.joint_s = 1e9; }));
}

}  // namespace
}  // namespace sotto::vad
