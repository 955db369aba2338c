#include "whisper/align.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "whisper/testing/fake_model.h"

namespace sotto::whisper {
namespace {

using testing::FakeCall;
using testing::FakeModel;

TEST(MedianFilter, MirrorsAtTheEnds) {
  std::vector<float> row = {5, 1, 4, 2, 3};
  median_filter(row, 3);
  // 1 5 1 | 5 1 4 | 1 4 2 | 4 2 3 | 2 3 2
  EXPECT_EQ(row, (std::vector<float>{1, 4, 2, 3, 2}));
}

TEST(MedianFilter, RemovesSpikesAndLeavesShortRowsAlone) {
  std::vector<float> row(20, 1.0f);
  row[7] = 100;
  row[12] = -100;
  median_filter(row, 7);
  EXPECT_EQ(row, std::vector<float>(20, 1.0f));
  std::vector<float> brief = {3, 1, 2};
  median_filter(brief, 7);
  EXPECT_EQ(brief, (std::vector<float>{3, 1, 2}));
}

TEST(AlignmentWeights, KeepsTheFirstColumnsAndStandardisesThem) {
  // One head, two rows, four positions of which two are kept: rows become (0.25, 0.75) and (0.5,
  // 0.5).
  const std::vector<float> attention = {0.1f, 0.3f, 0.6f, 0.0f, 0.2f, 0.2f, 0.1f, 0.5f};
  const std::vector<float> weights = alignment_weights(attention, 2, 4, 2);
  ASSERT_EQ(weights.size(), 4u);
  EXPECT_NEAR(weights[0], -1, 1e-5);
  EXPECT_NEAR(weights[1], 1, 1e-5);
  EXPECT_NEAR(weights[2], 1, 1e-5);
  EXPECT_NEAR(weights[3], -1, 1e-5);
}

TEST(AlignmentWeights, AveragesHeadsAndSurvivesConstantColumns) {
  const std::vector<float> attention = {0.25f, 0.75f, 0.5f, 0.5f, /* second head */ 0.5f,
                                        0.5f,  0.5f,  0.5f};
  const std::vector<float> weights = alignment_weights(attention, 2, 2, 2);
  EXPECT_NEAR(weights[0], -0.5, 1e-5);
  EXPECT_NEAR(weights[2], 0.5, 1e-5);
  for (const float w : alignment_weights(std::vector<float>(8, 0.0f), 2, 4, 2))
    EXPECT_EQ(w, 0.0f);
}

class AlignTokensTest : public ::testing::Test {
 protected:
  /// Token i of the text is heard at positions 20 i + 10 .. 20 i + 30.
  AlignTokensTest()
      : model_([](const FakeCall& call, std::span<float> logits) {
          // Half of the mass on byte 'a' + number of text tokens, the rest on 'z'; special tokens
          // do not count.
          std::fill(logits.begin(), logits.begin() + 300, -1000.0f);
          logits['a' + call.text.size()] = 1;
          logits['z'] = 1;
          logits[static_cast<size_t>(logits.size()) - 1] = 100;
        }) {
    model_.set_attention([](const FakeCall& call, int, std::span<float> row) {
      // The row that predicts text token i looks at where it is spoken.
      const size_t text = call.text.size();
      const size_t begin = call.tokens.back() < 256 || text > 0 ? 20 * text + 10 : 0;
      for (size_t i = 0; i < row.size(); ++i) {
        row[i] = i >= begin && i < begin + 20 ? 0.04f : 0.2f / static_cast<float>(row.size() - 20);
      }
    });
  }

  Result<TokenAlignment> align(int count, int64_t frames) {
    std::vector<int> text(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i)
      text[static_cast<size_t>(i)] = 'a' + i;
    const auto window = model_.encode(std::vector<float>(3000 * 80), 1500);
    const auto decoder = model_.create_decoder(1);
    return align_tokens(model_, **decoder, **window, "en", Task::kTranscribe, text, 1500, frames);
  }

  FakeModel model_;
};

TEST_F(AlignTokensTest, BordersFollowTheAttention) {
  const auto alignment = align(5, 3000);
  ASSERT_TRUE(alignment.ok());
  ASSERT_EQ(alignment->borders.size(), 6u);
  for (size_t i = 1; i < 5; ++i) {
    EXPECT_NEAR(alignment->borders[i], static_cast<double>(20 * i + 10) * 0.02, 0.05) << i;
  }
  ASSERT_EQ(alignment->probabilities.size(), 5u);
  for (const float p : alignment->probabilities)
    EXPECT_NEAR(p, 0.5, 1e-5);
  EXPECT_EQ(model_.log().misuse, "");
}

TEST_F(AlignTokensTest, LongTextRunsInSeveralStepsWithTheSameResult) {
  const auto alignment = align(25, 3000);
  ASSERT_TRUE(alignment.ok());
  ASSERT_EQ(alignment->borders.size(), 26u);
  ASSERT_EQ(alignment->probabilities.size(), 25u);
  for (size_t i = 1; i < 25; ++i) {
    EXPECT_NEAR(alignment->borders[i], static_cast<double>(20 * i + 10) * 0.02, 0.05) << i;
  }
  EXPECT_GT(model_.log().batch_rows.size(), 0u);
}

TEST_F(AlignTokensTest, TimesStayInTheSpokenPart) {
  const auto alignment = align(5, 60);  // 30 positions
  ASSERT_TRUE(alignment.ok());
  EXPECT_TRUE(std::is_sorted(alignment->borders.begin(), alignment->borders.end()));
  EXPECT_LE(alignment->borders.back(), 0.6);
}

}  // namespace
}  // namespace sotto::whisper
