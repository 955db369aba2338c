#include "whisper/encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "whisper/testing/loaded_checkpoint.h"
#include "whisper/testing/random_checkpoint.h"

namespace sotto::whisper {
namespace {

using ::testing::HasSubstr;

class EncoderTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const testing::RandomCheckpoint checkpoint({.n_mels = GetParam()});
    loaded_ =
        testing::load_checkpoint(checkpoint.write_ggml(testing::make_test_folder("encoder_test")));
    mel_ = testing::random_mel(loaded_->config, 20, 1);
  }
  std::span<const float> frames(int n) const {
    return std::span(mel_).first(static_cast<size_t>(n * loaded_->config.n_mels));
  }

  std::unique_ptr<testing::LoadedCheckpoint> loaded_;
  std::vector<float> mel_;
};
INSTANTIATE_TEST_SUITE_P(MelBands, EncoderTest, ::testing::Values(80, 128));

TEST_P(EncoderTest, TakesOneToAllPositions) {
  const auto d = static_cast<size_t>(loaded_->config.d_model);
  for (const int positions : {1, 7, 20}) {
    EXPECT_EQ(testing::encoder_output(*loaded_, frames(2 * positions), positions).size(),
              static_cast<size_t>(positions) * d);
  }
}

TEST_P(EncoderTest, FewerPositionsSeeTheSameFramesAndPositions) {
  // Without attention a row sees only its neighbours, so a shorter input changes nothing but its
  // last row.
  loaded_->weights.encoder.clear();
  const auto whole = testing::encoder_output(*loaded_, mel_, 20);
  const auto part = testing::encoder_output(*loaded_, frames(14), 7);
  const auto same = 6 * static_cast<size_t>(loaded_->config.d_model);
  EXPECT_LT(testing::largest_difference(std::span(whole).first(same), std::span(part).first(same)),
            1e-5);
  EXPECT_GT(testing::largest_difference(std::span(whole).first(part.size()), part), 1e-3);
}

TEST_P(EncoderTest, AttentionReachesEveryRow) {
  auto changed = mel_;
  changed.back() += 3;
  const auto d = static_cast<size_t>(loaded_->config.d_model);
  const auto before = testing::encoder_output(*loaded_, mel_, 20);
  const auto after = testing::encoder_output(*loaded_, changed, 20);
  EXPECT_GT(testing::largest_difference(std::span(before).first(d), std::span(after).first(d)),
            1e-4);
}

TEST_P(EncoderTest, RefusesWrongSizes) {
  const auto error = [&](std::span<const float> mel, int positions) {
    return run_encoder(*loaded_->backend, loaded_->config, loaded_->weights, mel, positions)
        .status()
        .message();
  };
  EXPECT_THAT(error(frames(0), 0), HasSubstr("0 positions; this model has 1 to 20"));
  EXPECT_THAT(error(mel_, 21), HasSubstr("21 positions"));
  EXPECT_THAT(error(frames(39), 20),
              HasSubstr("for 40 frames of " + std::to_string(GetParam()) + " bands"));
}

}  // namespace
}  // namespace sotto::whisper
