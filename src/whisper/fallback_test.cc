#include "whisper/fallback.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "whisper/testing/fake_model.h"

namespace sotto::whisper {
namespace {

using testing::FakeCall;
using testing::FakeModel;
using testing::Script;

WindowText with(float avg_logprob, float ratio, float no_speech) {
  WindowText text;
  text.avg_logprob = avg_logprob;
  text.compression_ratio = ratio;
  text.no_speech_prob = no_speech;
  return text;
}

TEST(FallbackReason, ChecksRepetitionAndProbability) {
  const TranscribeOptions options;
  EXPECT_EQ(fallback_reason(with(-0.5f, 1.5f, 0.1f), options), "");
  EXPECT_EQ(fallback_reason(with(-0.5f, 2.5f, 0.1f), options), "compression_ratio");
  EXPECT_EQ(fallback_reason(with(-1.1f, 1.5f, 0.1f), options), "logprob");
  EXPECT_EQ(fallback_reason(with(-1.1f, 2.5f, 0.7f), options), "")
      << "silence is not decoded again";
  EXPECT_EQ(fallback_reason(with(-0.5f, 2.5f, 0.7f), options), "compression_ratio")
      << "probable text is no silence";
}

TEST(FallbackReason, ThresholdsCanBeOff) {
  TranscribeOptions options;
  options.compression_ratio_threshold.reset();
  EXPECT_EQ(fallback_reason(with(-0.5f, 9.0f, 0.1f), options), "");
  options.logprob_threshold.reset();
  EXPECT_EQ(fallback_reason(with(-9.0f, 9.0f, 0.1f), options), "");
}

TEST(FallbackReason, EntropyIsCheckedOnMoreThan32Tokens) {
  TranscribeOptions options;
  options.entropy_threshold = 2.4f;
  WindowText text = with(-0.5f, 1.0f, 0.1f);
  text.hypothesis.tokens.assign(32, 7);
  EXPECT_EQ(fallback_reason(text, options), "");
  text.hypothesis.tokens.assign(33, 7);
  EXPECT_EQ(fallback_reason(text, options), "entropy");
  for (int i = 0; i < 33; ++i)
    text.hypothesis.tokens[static_cast<size_t>(i)] = i;
  EXPECT_EQ(fallback_reason(text, options), "");
}

TEST(TokenEntropy, IsThatOfTheLast32) {
  EXPECT_EQ(token_entropy({}), 0);
  std::vector<int> ids(100, 1);
  EXPECT_EQ(token_entropy(ids), 0);
  for (size_t i = 84; i < 100; ++i)
    ids[i] = 2;
  EXPECT_NEAR(token_entropy(ids), std::log(2.0), 1e-9);
}

TEST(IsSilence, NeedsBothProbabilities) {
  TranscribeOptions options;
  EXPECT_TRUE(is_silence(with(-1.2f, 1, 0.7f), options));
  EXPECT_FALSE(is_silence(with(-0.9f, 1, 0.7f), options));
  EXPECT_FALSE(is_silence(with(-1.2f, 1, 0.5f), options));
  options.logprob_threshold.reset();
  EXPECT_TRUE(is_silence(with(-0.1f, 1, 0.7f), options));
  options.no_speech_threshold.reset();
  EXPECT_FALSE(is_silence(with(-9.0f, 1, 1.0f), options));
}

class FallbackTest : public ::testing::Test {
 protected:
  void load(Script script) {
    model_ = std::make_unique<FakeModel>(std::move(script));
    options_.suppress_tokens = {};
    options_.without_timestamps = true;
  }

  WindowText decode() {
    const auto rules = LogitRules::create(*model_, options_, 1500);
    const auto window = model_->encode(std::vector<float>(3000 * 80), 1500);
    const auto decoder = model_->create_decoder(5);
    PromptBuilder prompts(*model_, options_, "en");
    const Prompt prompt = prompts.next(true);
    WindowDecoder window_decoder(*model_, **decoder, **window, 5);
    EXPECT_TRUE(window_decoder.prefill(prompt).ok());
    auto result = decode_with_fallback(window_decoder, *rules, *model_, prompt, options_, 1, {});
    EXPECT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(model_->log().misuse, "");
    return std::move(result).value();
  }

  std::unique_ptr<FakeModel> model_;
  TranscribeOptions options_;
};

TEST_F(FallbackTest, GoodTextNeedsOneAttempt) {
  FakeModel plain({});
  load(testing::write_windows({{plain.word(" hello"), plain.word(" world")}}, plain.tokens().eot));
  const WindowText text = decode();
  EXPECT_EQ(text.text, "hello world");
  EXPECT_EQ(text.attempts, 1);
  EXPECT_EQ(text.temperature, 0.0f);
  // Two words and end-of-text, each with logit 10 against 0 for the others that may follow.
  EXPECT_GT(text.avg_logprob, -0.2f);
  EXPECT_LT(text.avg_logprob, 0.0f);
}

TEST_F(FallbackTest, ImprobableTextRunsThroughAllTemperatures) {
  load([](const FakeCall& call, std::span<float> logits) {
    // Flat: every choice has a logarithm near -log(300).
    if (call.text.size() >= 3) logits[static_cast<size_t>(logits.size() - 1)] = 0;
  });
  options_.max_new_tokens = 4;
  const WindowText text = decode();
  EXPECT_EQ(text.attempts, 6);
  EXPECT_EQ(text.temperature, 1.0f);
  EXPECT_EQ(model_->log().prompts.size(), 1u) << "the prompt is decoded once for all temperatures";
}

TEST_F(FallbackTest, StopsAtTheFirstTemperatureThatPasses) {
  // Greedy choice repeats " one" for ever; with some chance another word breaks the loop and the
  // text ends.
  FakeModel plain({});
  const auto one = static_cast<size_t>(plain.word(" one"));
  const auto eot = static_cast<size_t>(plain.tokens().eot);
  load([=](const FakeCall& call, std::span<float> logits) {
    std::fill(logits.begin(), logits.end(), -1000.0f);
    logits[one] = 5;
    logits[eot] = call.text.size() < 5 ? -1000.0f : 4.9f;
  });
  options_.beam_size = 1;
  const WindowText text = decode();
  EXPECT_EQ(text.attempts, 2);
  EXPECT_FLOAT_EQ(text.temperature, 0.2f);
  EXPECT_LE(text.compression_ratio, 2.4f);
}

TEST_F(FallbackTest, WhenAllFailTheMostProbableUnrepetitiveTextWins) {
  // Attempt 1 (greedy) loops with high probability; sampling at temperature 1 gives improbable but
  // varied text.
  FakeModel plain({});
  const auto one = static_cast<size_t>(plain.word(" one"));
  load([=](const FakeCall&, std::span<float> logits) {
    std::fill(logits.begin(), logits.end(), -1000.0f);
    std::fill(logits.begin() + 'a', logits.begin() + 'z' + 1, 0.0f);
    logits[one] = 2.0f;
  });
  options_.beam_size = 1;
  options_.temperatures = {0.0f, 1.0f, 1.0f};
  options_.logprob_threshold = -0.01f;
  options_.compression_ratio_threshold = 2.4f;
  options_.max_new_tokens = 60;
  const WindowText text = decode();
  EXPECT_EQ(text.attempts, 3);
  EXPECT_LE(text.compression_ratio, 2.4f);
  EXPECT_EQ(text.temperature, 1.0f);
}

TEST_F(FallbackTest, LengthLimits) {
  FakeModel plain({});
  const auto one = static_cast<size_t>(plain.word(" one"));
  const Script endless = [=](const FakeCall&, std::span<float> logits) { logits[one] = 20; };
  options_.temperatures = {0.0f};
  load(endless);
  EXPECT_EQ(decode().hypothesis.tokens.size(), 224u);
  options_.max_new_tokens = 7;
  EXPECT_EQ(decode().hypothesis.tokens.size(), 7u);
  // A full prompt leaves 448 - (1 + 223 + 4) tokens, and the last one need not be fed back.
  options_.max_new_tokens = 0;
  options_.initial_prompt = std::string(1000, 'x');
  EXPECT_EQ(decode().hypothesis.tokens.size(), 221u);
}

}  // namespace
}  // namespace sotto::whisper
