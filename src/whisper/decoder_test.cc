#include "whisper/decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "whisper/testing/loaded_checkpoint.h"
#include "whisper/testing/random_checkpoint.h"

namespace sotto::whisper {
namespace {

using ::testing::HasSubstr;
using testing::LoadedCheckpoint;

constexpr int kPositions = 20;
constexpr double kRounding = 2e-4;  // f32 sums in another order; logits are of the order of 10

class DecoderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const testing::RandomCheckpoint checkpoint({});
    loaded_ =
        testing::load_checkpoint(checkpoint.write_ggml(testing::make_test_folder("decoder_test")));
    window_ =
        testing::encode(*loaded_, testing::random_mel(loaded_->config, kPositions, 1), kPositions);
    other_ =
        testing::encode(*loaded_, testing::random_mel(loaded_->config, kPositions, 2), kPositions);
  }

  std::unique_ptr<Decoder> make_decoder(int sequences) {
    return CachedDecoder::create(*loaded_->backend, loaded_->config, loaded_->weights, sequences)
        .value();
  }
  size_t vocabulary() const { return static_cast<size_t>(loaded_->config.n_vocab); }
  std::vector<float> row(const std::vector<float>& logits, size_t i) const {
    const auto first = logits.begin() + static_cast<ptrdiff_t>(i * vocabulary());
    return {first, first + static_cast<ptrdiff_t>(vocabulary())};
  }
  std::vector<float> last_row(const std::vector<float>& logits) const {
    return row(logits, logits.size() / vocabulary() - 1);
  }
  void expect_same(const std::vector<float>& a, const std::vector<float>& b) const {
    EXPECT_LT(testing::largest_difference(a, b), kRounding);
  }

  std::unique_ptr<LoadedCheckpoint> loaded_;
  std::unique_ptr<EncodedWindow> window_, other_;
};

TEST_F(DecoderTest, LogitsDependOnTokensOrderAndWindow) {
  const auto logits = testing::forward(*loaded_, *window_, {5, 9, 2});
  EXPECT_GT(testing::largest_difference(logits, testing::forward(*loaded_, *window_, {9, 5, 2})),
            0.01);
  EXPECT_GT(testing::largest_difference(logits, testing::forward(*loaded_, *other_, {5, 9, 2})),
            0.01);
}

TEST_F(DecoderTest, LaterTokensDoNotChangeEarlierLogits) {
  const auto longer = testing::forward(*loaded_, *window_, {5, 9, 2, 40});
  const auto shorter = testing::forward(*loaded_, *window_, {5, 9});
  expect_same(row(longer, 0), row(shorter, 0));
  expect_same(row(longer, 1), row(shorter, 1));
}

TEST_F(DecoderTest, StepByStepEqualsThePromptAtOnce) {
  const std::vector<int> tokens = {5, 9, 2, 40, 77, 3, 5};
  const auto at_once = testing::forward(*loaded_, *window_, tokens);
  auto decoder = make_decoder(1);
  for (size_t i = 0; i < tokens.size(); ++i) {
    expect_same(
        testing::feed(*decoder, loaded_->config, *window_, {tokens[i]}, static_cast<int64_t>(i)),
        row(at_once, i));
  }
}

TEST_F(DecoderTest, FillsTheWholeContext) {
  std::vector<int> tokens(static_cast<size_t>(loaded_->config.n_text_ctx));
  std::iota(tokens.begin(), tokens.end(), 1);
  const auto at_once = testing::forward(*loaded_, *window_, tokens);
  auto decoder = make_decoder(1);
  const std::vector<int> head(tokens.begin(), tokens.end() - 1);
  testing::feed(*decoder, loaded_->config, *window_, head);
  expect_same(testing::feed(*decoder, loaded_->config, *window_, {tokens.back()},
                            static_cast<int64_t>(head.size())),
              last_row(at_once));
}

TEST_F(DecoderTest, OnlyTheWantedRowsAreReturned) {
  const std::vector<int> tokens = {5, 9, 2, 40};
  const auto all = testing::forward(*loaded_, *window_, tokens);
  auto decoder = make_decoder(1);
  DecodeBatch batch{tokens, {{0, 0}, {0, 1}, {0, 2}, {0, 3}}, {4, window_.get()}, {1, 3}};
  std::vector<float> logits(2 * vocabulary());
  ASSERT_TRUE(decoder->step(batch, logits, nullptr).ok());
  expect_same(row(logits, 0), row(all, 1));
  expect_same(row(logits, 1), row(all, 3));
}

TEST_F(DecoderTest, AStepWithoutLogitsStillFillsTheCache) {
  auto decoder = make_decoder(1);
  DecodeBatch batch{{5, 9}, {{0, 0}, {0, 1}}, {2, window_.get()}, {}};
  ASSERT_TRUE(decoder->step(batch, {}, nullptr).ok());
  expect_same(testing::feed(*decoder, loaded_->config, *window_, {2}, 2),
              last_row(testing::forward(*loaded_, *window_, {5, 9, 2})));
}

TEST_F(DecoderTest, ReorderMakesBeamsContinueTheirParents) {
  auto decoder = make_decoder(3);
  const std::vector<std::vector<int>> prefixes = {{1, 2, 3}, {1, 7, 8}, {1, 7, 30}};
  for (int slot = 0; slot < 3; ++slot) {
    testing::feed(*decoder, loaded_->config, *window_, prefixes[static_cast<size_t>(slot)], 0,
                  slot);
  }
  const std::vector<int> parents = {2, 0, 2};
  ASSERT_TRUE(decoder->reorder(parents, 3).ok());
  // Slots 0 and 2 share a past from here on; what one writes must not show in the other.
  DecodeBatch batch{{10, 11, 12}, {{0, 3}, {1, 3}, {2, 3}}, {3, window_.get()}, {0, 1, 2}};
  std::vector<float> logits(3 * vocabulary());
  ASSERT_TRUE(decoder->step(batch, logits, nullptr).ok());
  expect_same(row(logits, 0), last_row(testing::forward(*loaded_, *window_, {1, 7, 30, 10})));
  expect_same(row(logits, 1), last_row(testing::forward(*loaded_, *window_, {1, 2, 3, 11})));
  expect_same(row(logits, 2), last_row(testing::forward(*loaded_, *window_, {1, 7, 30, 12})));
  ASSERT_TRUE(decoder->reorder(std::vector<int>{1, 2, 2}, 4).ok());
  batch = {{13, 14, 15}, {{0, 4}, {1, 4}, {2, 4}}, {3, window_.get()}, {0, 1, 2}};
  ASSERT_TRUE(decoder->step(batch, logits, nullptr).ok());
  expect_same(row(logits, 0), last_row(testing::forward(*loaded_, *window_, {1, 2, 3, 11, 13})));
  expect_same(row(logits, 1), last_row(testing::forward(*loaded_, *window_, {1, 7, 30, 12, 14})));
  expect_same(row(logits, 2), last_row(testing::forward(*loaded_, *window_, {1, 7, 30, 12, 15})));
}

TEST_F(DecoderTest, ClearForgets) {
  auto decoder = make_decoder(1);
  testing::feed(*decoder, loaded_->config, *window_, {50, 51, 52});
  decoder->clear();
  expect_same(testing::feed(*decoder, loaded_->config, *window_, {5, 9}),
              testing::forward(*loaded_, *window_, {5, 9}));
}

TEST_F(DecoderTest, WindowsDecodedTogetherEqualThoseDecodedAlone) {
  constexpr int kShort = 7;
  const auto brief =
      testing::encode(*loaded_, testing::random_mel(loaded_->config, kShort, 3), kShort);
  auto decoder = make_decoder(3);
  // Prompts of different lengths in one batch, windows of different lengths, too.
  DecodeBatch batch{
      {5, 9, 2, 40, 6, 7},
      {{0, 0}, {0, 1}, {1, 0}, {2, 0}, {2, 1}, {2, 2}},
      {window_.get(), window_.get(), other_.get(), brief.get(), brief.get(), brief.get()},
      {1, 2, 5}};
  std::vector<float> logits(3 * vocabulary());
  ASSERT_TRUE(decoder->step(batch, logits, nullptr).ok());
  expect_same(row(logits, 0), last_row(testing::forward(*loaded_, *window_, {5, 9})));
  expect_same(row(logits, 1), last_row(testing::forward(*loaded_, *other_, {2})));
  expect_same(row(logits, 2), last_row(testing::forward(*loaded_, *brief, {40, 6, 7})));
}

TEST_F(DecoderTest, AlignmentGivesProbabilitiesInTheOrderOfTheConfig) {
  const std::vector<int> tokens = {5, 9, 2};
  const auto probabilities = [&](std::vector<std::pair<int, int>> heads,
                                 std::vector<float>& logits) {
    loaded_->config.alignment_heads = std::move(heads);
    auto decoder = make_decoder(1);
    DecodeBatch batch{tokens, {{0, 0}, {0, 1}, {0, 2}}, {3, window_.get()}, {2}};
    logits.resize(vocabulary());
    std::vector<float> out;
    const Status status = decoder->step(batch, logits, &out);
    EXPECT_TRUE(status.ok()) << status.message();
    return out;
  };
  std::vector<float> logits;
  const auto out = probabilities({{1, 1}, {0, 0}, {1, 0}}, logits);
  constexpr size_t kBlock = 3 * kPositions;
  ASSERT_EQ(out.size(), 3 * kBlock);
  for (size_t i = 0; i < out.size(); i += kPositions) {
    EXPECT_NEAR(std::accumulate(out.begin() + static_cast<ptrdiff_t>(i),
                                out.begin() + static_cast<ptrdiff_t>(i + kPositions), 0.0),
                1, 1e-5);
  }
  // Each head alone gives its own block of the whole.
  const std::pair<int, int> order[] = {{1, 1}, {0, 0}, {1, 0}};
  for (size_t i = 0; i < 3; ++i) {
    const auto alone = probabilities({order[i]}, logits);
    const std::span<const float> block = std::span(out).subspan(i * kBlock, kBlock);
    EXPECT_LT(testing::largest_difference(alone, block), 1e-6) << i;
  }
  EXPECT_GT(testing::largest_difference(std::span(out).subspan(0, kBlock),
                                        std::span(out).subspan(2 * kBlock)),
            0.01);
  expect_same(logits, last_row(testing::forward(*loaded_, *window_, tokens)));
}

TEST_F(DecoderTest, RefusesWrongCalls) {
  auto decoder = make_decoder(2);
  std::vector<float> logits(vocabulary());
  const auto error = [&](const DecodeBatch& batch) {
    return decoder->step(batch, logits, nullptr);
  };
  const EncodedWindow* window = window_.get();
  EXPECT_THAT(error({{96}, {{0, 0}}, {window}, {0}}).message(),
              HasSubstr("token 96 is outside the vocabulary of 96"));
  EXPECT_THAT(error({{-1}, {{0, 0}}, {window}, {0}}).message(), HasSubstr("token -1"));
  EXPECT_THAT(error({{1}, {{0, 24}}, {window}, {0}}).message(),
              HasSubstr("position 24 is outside the context of 24"));
  EXPECT_THAT(error({{1}, {{2, 0}}, {window}, {0}}).message(), HasSubstr("sequence 2 of 2"));
  EXPECT_THAT(error({{1}, {{0, 0}}, {nullptr}, {0}}).message(), HasSubstr("no encoded window"));
  EXPECT_THAT(error({{}, {}, {}, {}}).message(), HasSubstr("0 tokens"));
  EXPECT_THAT(error({{1, 2}, {{0, 0}}, {window}, {0}}).message(),
              HasSubstr("2 tokens, 1 rows and 1 windows"));
  EXPECT_THAT(error({{1}, {{0, 0}}, {window}, {1}}).message(), HasSubstr("must ascend"));
  EXPECT_THAT(error({{1, 2}, {{0, 0}, {0, 1}}, {window, window}, {0, 1}}).message(),
              HasSubstr("room for 96 logits"));
  EXPECT_FALSE(CachedDecoder::create(*loaded_->backend, loaded_->config, loaded_->weights, 0).ok());
}

TEST_F(DecoderTest, AlignmentOverWindowsOfTwoLengthsIsRefused) {
  const auto brief = testing::encode(*loaded_, testing::random_mel(loaded_->config, 7, 3), 7);
  auto decoder = make_decoder(2);
  DecodeBatch batch{{1, 2}, {{0, 0}, {1, 0}}, {window_.get(), brief.get()}, {0}};
  std::vector<float> logits(vocabulary());
  std::vector<float> alignment;
  EXPECT_EQ(decoder->step(batch, logits, &alignment).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sotto::whisper
