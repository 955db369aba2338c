// Speech probabilities and spans against independent programs; tools/golden/make_vad.py made the
// data.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/testing/kernel_testing.h"
#include "vad/silero.h"
#include "vad/speech_spans.h"

namespace sotto::vad {
namespace {

struct SpanCase {
  uint32_t seed;
  float threshold;
  int min_speech_ms, min_silence_ms;
  double max_speech_s;  // 0: none
  int speech_pad_ms;
  bool cut_at_longest_silence;
  std::vector<Span> spans;
};

#include "vad/testdata/vad_golden.inc"

// The generator of make_vad.py.
class Lcg {
 public:
  explicit Lcg(uint32_t seed) : state_(seed) {}
  int below(uint32_t n) {
    state_ = state_ * 1664525U + 1013904223U;
    return static_cast<int>((state_ >> 8) % n);
  }

 private:
  uint32_t state_;
};

std::vector<float> made_up_probabilities(uint32_t seed, size_t chunks) {
  constexpr float kLevels[] = {0.02f, 0.2f, 0.4f, 0.45f, 0.55f, 0.6f, 0.95f};
  constexpr uint32_t kLengths[] = {3, 12, 80};
  Lcg lcg(seed);
  std::vector<float> result;
  while (result.size() < chunks) {
    const float level = kLevels[lcg.below(7)];
    const uint32_t longest = kLengths[lcg.below(3)];
    result.insert(result.end(), 1 + static_cast<size_t>(lcg.below(longest)), level);
  }
  result.resize(chunks);
  return result;
}

TEST(SpeechSpans, AreThoseOfSileroAndFasterWhisper) {
  constexpr int64_t kChunks = 700;
  int cut = 0;
  for (const SpanCase& c : kSpanCases) {
    SCOPED_TRACE(c.seed);
    VadOptions options;
    options.threshold = c.threshold;
    options.min_speech_ms = c.min_speech_ms;
    options.min_silence_ms = c.min_silence_ms;
    if (c.max_speech_s > 0) options.max_speech_s = c.max_speech_s;
    options.speech_pad_ms = c.speech_pad_ms;
    options.cut_at_longest_silence = c.cut_at_longest_silence;
    ASSERT_TRUE(check_vad_options(options).ok());
    EXPECT_EQ(speech_spans(made_up_probabilities(c.seed, kChunks), kChunks * kChunkSamples - 100,
                           options),
              c.spans);
    cut += c.max_speech_s > 0 ? 1 : 0;
  }
  EXPECT_GT(cut, 10) << "the cases cover the cutting of long speech";
}

class SileroModel : public testing::TestWithParam<CpuIsa> {};
INSTANTIATE_TEST_SUITE_P(Isa, SileroModel, testing::ValuesIn(kernels::testing::usable_isas()),
                         kernels::testing::isa_label);

TEST_P(SileroModel, ProbabilitiesAreThoseOfTheDefinition) {
  const char* folder = std::getenv("SOTTO_TEST_MODELS");
  ASSERT_NE(folder, nullptr) << "set SOTTO_TEST_MODELS (scripts/test does)";
  auto model = Silero::load(std::string(folder) + "/silero-vad", GetParam());
  ASSERT_TRUE(model.ok()) << model.status().message();
  auto recording = audio::decode_file(std::string(folder) + "/jfk.wav", {});
  ASSERT_TRUE(recording.ok()) << recording.status().message();
  std::vector<float> jfk(static_cast<size_t>(recording->mono.size()));
  recording->mono.read(0, jfk);

  std::vector<float> quiet, noisy;
  Lcg lcg(1);
  for (const float x : jfk) {
    quiet.push_back(x / 32);
    noisy.push_back(x * 0.5f + static_cast<float>((lcg.below(20001) - 10000) / 1e5));
  }
  const auto expect_near = [&](const std::vector<float>& samples, std::span<const float> golden) {
    audio::SampleBuffer buffer;
    buffer.append(samples);
    auto probabilities = speech_probabilities(*model, buffer);
    ASSERT_TRUE(probabilities.ok());
    ASSERT_EQ(probabilities->size(), golden.size());
    for (size_t i = 0; i < golden.size(); ++i)
      ASSERT_NEAR((*probabilities)[i], golden[i], 1e-4) << "chunk " << i;
  };
  expect_near(jfk, kJfk);
  expect_near(quiet, kQuietJfk);
  expect_near(noisy, kNoisyJfk);
}

}  // namespace
}  // namespace sotto::vad
