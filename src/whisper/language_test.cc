#include "whisper/language.h"

#include <gtest/gtest.h>

#include <cmath>

#include "whisper/testing/fake_model.h"

namespace sotto::whisper {
namespace {

using testing::FakeCall;
using testing::FakeModel;

/// Hears German at 60 %, English at 30 %, Chinese at 10 %.
FakeModel german_speaker() {
  const FakeModel plain({});
  const int first = plain.tokens().first_language;
  return FakeModel([first](const FakeCall&, std::span<float> logits) {
    logits[0] = 50;  // Other tokens do not matter
    logits[static_cast<size_t>(first)] = std::log(0.3f);
    logits[static_cast<size_t>(first) + 1] = std::log(0.1f);
    logits[static_cast<size_t>(first) + 2] = std::log(0.6f);
  });
}

DetectedLanguage detect(FakeModel& model, const std::vector<std::string>& allowed) {
  const auto window = model.encode(std::vector<float>(3000 * 80), 1500);
  const auto decoder = model.create_decoder(1);
  auto result = detect_language(model, **decoder, **window, allowed);
  EXPECT_TRUE(result.ok());
  return std::move(result).value();
}

TEST(DetectLanguage, TakesTheLikeliestAndGivesProbabilities) {
  FakeModel model = german_speaker();
  const DetectedLanguage found = detect(model, {});
  EXPECT_EQ(found.code, "de");
  EXPECT_NEAR(found.probability, 0.6, 1e-5);
  ASSERT_EQ(found.probabilities.size(), 3u);
  EXPECT_NEAR(found.probabilities.at("en"), 0.3, 1e-5);
  EXPECT_EQ(model.log().prompts.front(), std::vector<int>{model.tokens().sot});
}

TEST(DetectLanguage, CanBeRestricted) {
  FakeModel model = german_speaker();
  const DetectedLanguage found = detect(model, {"en", "zh"});
  EXPECT_EQ(found.code, "en");
  EXPECT_NEAR(found.probability, 0.75, 1e-5);
  EXPECT_EQ(found.probabilities.size(), 2u);
}

TEST(ResolveLanguage, AcceptsNamesAndCodes) {
  const FakeModel model({});
  TranscribeOptions options;
  EXPECT_EQ(resolve_language(model, options)->given, "");
  options.language = "German";
  EXPECT_EQ(resolve_language(model, options)->given, "de");
  options.language = "";
  options.languages = {"english", "de"};
  EXPECT_EQ(resolve_language(model, options)->given, "");
  EXPECT_EQ(resolve_language(model, options)->allowed, (std::vector<std::string>{"en", "de"}));
  options.languages = {"zh"};
  EXPECT_EQ(resolve_language(model, options)->given, "zh") << "one language needs no detection";
}

TEST(ResolveLanguage, RefusesWhatTheModelDoesNotKnow) {
  const FakeModel model({});
  TranscribeOptions options;
  options.language = "klingon";
  EXPECT_EQ(resolve_language(model, options).status().code(), StatusCode::kInvalidArgument);
  options.language = "yue";  // Only models with 100 languages have it
  EXPECT_EQ(resolve_language(model, options).status().code(), StatusCode::kInvalidArgument);
  options.language = "";
  options.languages = {"en", "klingon"};
  EXPECT_EQ(resolve_language(model, options).status().code(), StatusCode::kInvalidArgument);
}

TEST(ResolveLanguage, EnglishOnlyModels) {
  const FakeModel model({}, {.multilingual = false});
  TranscribeOptions options;
  EXPECT_EQ(resolve_language(model, options)->given, "en");
  options.language = "english";
  EXPECT_EQ(resolve_language(model, options)->given, "en");
  options.language = "de";
  EXPECT_EQ(resolve_language(model, options).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sotto::whisper
