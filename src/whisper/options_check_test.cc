#include "whisper/options_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "whisper/testing/fake_model.h"

namespace sotto::whisper {
namespace {

using testing::FakeModel;

TEST(CheckOptions, DefaultsAreFine) {
  EXPECT_TRUE(check_options(FakeModel({}), {}).ok());
}

TEST(CheckOptions, NamesWhatIsWrong) {
  const float nan = std::nanf("");
  struct Case {
    const char* name;
    std::function<void(TranscribeOptions&)> spoil;
  };
  const std::vector<Case> cases = {
      {"beam_size", [](auto& o) { o.beam_size = 1000000000; }},
      {"best_of", [](auto& o) { o.best_of = 65; }},
      {"patience", [](auto& o) { o.patience = 0; }},
      {"patience", [=](auto& o) { o.patience = nan; }},
      {"length_penalty", [](auto& o) { o.length_penalty = 1.5f; }},
      {"repetition_penalty", [](auto& o) { o.repetition_penalty = 0; }},
      {"repetition_penalty",
       [](auto& o) { o.repetition_penalty = std::numeric_limits<float>::infinity(); }},
      {"no_repeat_ngram_size", [](auto& o) { o.no_repeat_ngram_size = -1; }},
      {"max_new_tokens", [](auto& o) { o.max_new_tokens = -5; }},
      {"temperatures", [](auto& o) { o.temperatures = {}; }},
      {"temperature",
       [](auto& o) {
         o.temperatures = {0, -0.2f};
       }},
      {"logprob_threshold", [=](auto& o) { o.logprob_threshold = nan; }},
      {"max_initial_timestamp", [=](auto& o) { o.max_initial_timestamp = nan; }},
      {"clip start",
       [](auto& o) {
         o.clips = {{-1, 5}};
       }},
      {"clip start",
       [](auto& o) {
         o.clips = {{1e300, -1}};
       }},
      {"clip end",
       [](auto& o) {
         o.clips = {{0, std::numeric_limits<double>::infinity()}};
       }},
      {"empty",
       [](auto& o) {
         o.clips = {{5, 5}};
       }},
      {"in order",
       [](auto& o) {
         o.clips = {{5, 8}, {7, 9}};
       }},
      {"in order",
       [](auto& o) {
         o.clips = {{5, -1}, {7, 9}};
       }},
      {"audio_ctx", [](auto& o) { o.audio_ctx = 1501; }},
      {"audio_ctx", [](auto& o) { o.audio_ctx = -2; }},
  };
  const FakeModel model({});
  for (const Case& c : cases) {
    TranscribeOptions options;
    c.spoil(options);
    const Status status = check_options(model, options);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << c.name;
    EXPECT_NE(status.message().find(c.name), std::string::npos)
        << c.name << ": " << status.message();
  }
}

TEST(CheckOptions, EnglishOnlyModelsDoNotTranslate) {
  TranscribeOptions options;
  options.task = Task::kTranslate;
  EXPECT_EQ(check_options(FakeModel({}, {.multilingual = false}), options).code(),
            StatusCode::kInvalidArgument);
  EXPECT_TRUE(check_options(FakeModel({}), options).ok());
}

TEST(ResolveClips, TurnsSecondsIntoFramesOfTheRecording) {
  TranscribeOptions options;
  EXPECT_EQ(resolve_clips(options, 500), (std::vector<FrameSpan>{{0, 500}}));
  EXPECT_TRUE(resolve_clips(options, 0).empty());
  options.clips = {{0.5, 1.25}, {2, 99}, {100, -1}};
  EXPECT_EQ(resolve_clips(options, 500), (std::vector<FrameSpan>{{50, 75}, {200, 300}}));
}

TEST(OptionWarnings, CutDownDecodersDoNotTranslateWell) {
  FakeModel model({});
  TranscribeOptions options;
  options.task = Task::kTranslate;
  EXPECT_TRUE(option_warnings(model, options).empty());
  model.mutable_config().encoder_layers = 32;
  model.mutable_config().decoder_layers = 4;
  ASSERT_EQ(option_warnings(model, options).size(), 1u);
  EXPECT_NE(option_warnings(model, options)[0].find("not trained to translate"), std::string::npos);
  options.task = Task::kTranscribe;
  EXPECT_TRUE(option_warnings(model, options).empty());
}

}  // namespace
}  // namespace sotto::whisper
