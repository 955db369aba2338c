#include "whisper/transcriber.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "whisper/logits.h"
#include "whisper/testing/fake_model.h"

namespace sotto::whisper {
namespace {

using testing::FakeCall;
using testing::FakeModel;
using testing::FakeOptions;
using testing::Script;

class TranscriberTest : public ::testing::Test {
 protected:
  TranscriberTest() : plain_({}) {
    options_.suppress_tokens = {};
    options_.language = "en";
  }

  /// Transcribes `seconds` of audio with a model that writes `windows`.
  Result<Transcript> run(std::vector<std::vector<int>> windows, double seconds) {
    return run(testing::write_windows(std::move(windows), plain_.tokens().eot), seconds);
  }

  Result<Transcript> run(Script script, double seconds, const FakeOptions& fake = {}) {
    model_ = std::make_unique<FakeModel>(std::move(script), fake);
    auto result = transcribe(*model_, testing::silent_mel(seconds), seconds, options_, callbacks_);
    EXPECT_EQ(model_->log().misuse, "");
    return result;
  }

  [[nodiscard]] int t(double seconds) const { return plain_.time(seconds); }
  [[nodiscard]] int w(std::string_view text) const { return plain_.word(text); }

  /// The part of the n-th prompt between sot_prev and sot.
  [[nodiscard]] std::vector<int> context_of_prompt(size_t n) const {
    const std::vector<int>& prompt = model_->log().prompts.at(n);
    if (prompt.front() != plain_.tokens().sot_prev) return {};
    return {prompt.begin() + 1, std::find(prompt.begin(), prompt.end(), plain_.tokens().sot)};
  }

  FakeModel plain_;  ///< For its vocabulary
  std::unique_ptr<FakeModel> model_;
  TranscribeOptions options_;
  TranscribeCallbacks callbacks_;
};

TEST_F(TranscriberTest, WindowsFollowTheTimestamps) {
  const auto result = run({{t(0), w(" one"), t(4), t(4), w(" two"), t(20), t(20), w(" three")},
                           {t(0), w(" four"), t(10)},
                           {t(0), w(" five"), t(10)}},
                          65.0);
  ASSERT_TRUE(result.ok()) << result.status().message();
  // The first window ends at 20 s, the second is used up whole (20 + 30), the third holds the last
  // 15 s.
  ASSERT_EQ(result->segments.size(), 4u);
  const std::vector<double> starts = {0, 4, 20, 50};
  const std::vector<double> ends = {4, 20, 30, 60};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(result->segments[i].id, static_cast<int>(i));
    EXPECT_DOUBLE_EQ(result->segments[i].start, starts[i]);
    EXPECT_DOUBLE_EQ(result->segments[i].end, ends[i]);
  }
  EXPECT_EQ(result->segments[2].seek, 2000);
  EXPECT_EQ(result->text, "one two four five");
  EXPECT_EQ(result->stats.windows, 3);
  EXPECT_EQ(result->stats.fallbacks, 0);
  EXPECT_EQ(result->language, "en");
  EXPECT_EQ(result->language_probability, 1.0f);
  EXPECT_EQ(result->duration, 65.0);
}

TEST_F(TranscriberTest, AnotherRecordingMayRunAtAWindowBorder) {
  // The fake model writes its windows in the order in which they are encoded.
  const std::vector<std::vector<int>> windows = {{t(0), w(" one"), t(30)},
                                                 {t(0), w(" three"), t(2)},
                                                 {t(0), w(" two"), t(30)},
                                                 {t(0), w(" four"), t(1)}};
  int borders = 0;
  std::string inner;
  callbacks_.at_window_border = [&] {
    if (borders++ > 0) return;
    const auto result = transcribe(*model_, testing::silent_mel(5), 5, options_, {});
    ASSERT_TRUE(result.ok()) << result.status().message();
    inner = result->text;
  };
  const auto outer = run(windows, 65.0);
  ASSERT_TRUE(outer.ok()) << outer.status().message();
  EXPECT_EQ(outer->text, "one two four");
  EXPECT_EQ(inner, "three");
  EXPECT_EQ(borders, 2);  // Between three windows; not after the last
  EXPECT_EQ(outer->stats.windows, 3);
  // The other recording's text is no context of this one.
  EXPECT_EQ(context_of_prompt(2), (std::vector<int>{t(0), w(" one"), t(30)}));
}

TEST_F(TranscriberTest, EarlierTextIsContextOfTheNextWindow) {
  const std::vector<int> first = {t(0), w(" one"), t(4), t(4), w(" two"), t(30)};
  ASSERT_TRUE(run({first, {t(0), w(" three"), t(3)}}, 33.0).ok());
  EXPECT_EQ(context_of_prompt(0), std::vector<int>{});
  EXPECT_EQ(context_of_prompt(1), first);
  options_.condition_on_previous_text = false;
  ASSERT_TRUE(run({first, {t(0), w(" three"), t(3)}}, 33.0).ok());
  EXPECT_EQ(context_of_prompt(1), std::vector<int>{});
}

TEST_F(TranscriberTest, TextOfAHighTemperatureIsNotHandedOn) {
  options_.temperatures = {0.0f, 0.6f};
  options_.compression_ratio_threshold = 0.0f;  // Nothing passes
  const std::vector<int> first = {t(0), w(" one"), t(30)};
  auto result = run({first, {t(0), w(" three"), t(3)}}, 33.0);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(context_of_prompt(1), std::vector<int>{});
  EXPECT_EQ(result->stats.fallbacks, 2) << "windows, not attempts";
  EXPECT_FLOAT_EQ(result->segments[0].temperature, 0.6f);
  options_.prompt_reset_on_temperature = 0.7f;
  ASSERT_TRUE(run({first, {t(0), w(" three"), t(3)}}, 33.0).ok());
  EXPECT_EQ(context_of_prompt(1), first);
}

TEST_F(TranscriberTest, PrefixIsPartOfTheFirstSegmentOnly) {
  options_.prefix = "Hm";
  const std::vector<int> prefix = plain_.tokenizer().encode(" Hm");
  std::vector<int> first = {t(0)};
  first.insert(first.end(), prefix.begin(), prefix.end());
  for (const int id : {w(" one"), t(30)})
    first.push_back(id);
  const auto result = run({first, {t(0), w(" two"), t(2)}}, 32.0);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->text, "Hm one two");
}

TEST_F(TranscriberTest, LanguageIsDetectedOnTheFirstWindowAndItsEncodingReused) {
  options_.language = "";
  std::string heard;
  callbacks_.on_language = [&](const std::string& code, float) { heard = code; };
  const int german = plain_.tokens().first_language + 2;
  const Script write = testing::write_windows({{t(0), w(" one"), t(9)}}, plain_.tokens().eot);
  const auto result = run(
      [&](const FakeCall& call, std::span<float> logits) {
        if (call.tokens.size() == 1) {
          logits[static_cast<size_t>(german)] = 5;
        } else {
          write(call, logits);
        }
      },
      10.0);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->language, "de");
  EXPECT_EQ(heard, "de");
  EXPECT_GT(result->language_probability, 0.9f);
  EXPECT_EQ(result->language_probabilities.size(), 3u);
  EXPECT_EQ(result->stats.windows, 1);
  EXPECT_EQ(model_->log().prompts[1][1], german);
}

TEST_F(TranscriberTest, SilentWindowsAreSkippedAndReported) {
  const Script write = testing::write_windows({{t(0), w(" you"), t(2)}, {t(0), w(" one"), t(2)}},
                                              plain_.tokens().eot);
  const auto result = run(
      [&](const FakeCall& call, std::span<float> logits) {
        write(call, logits);
        if (call.window == 0 && call.text.empty()) {
          logits[static_cast<size_t>(plain_.tokens().no_speech)] = 20;
        }
        if (call.window == 0) {
          for (float& x : logits)
            x *= 0.5f;  // Text, but with a low probability
        }
      },
      32.0);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->text, "one");
  ASSERT_EQ(result->dropped.size(), 1u);
  EXPECT_EQ(result->dropped[0].reason, "no_speech");
  EXPECT_EQ(result->dropped[0].text, "you");
  EXPECT_DOUBLE_EQ(result->dropped[0].start, 0);
  EXPECT_DOUBLE_EQ(result->dropped[0].end, 30);
  EXPECT_EQ(context_of_prompt(1), std::vector<int>{}) << "what was dropped is no context";
}

TEST_F(TranscriberTest, AnInitialPromptOutlivesSilenceAtTheBeginning) {
  options_.initial_prompt = "one";
  const Script write = testing::write_windows({{t(0), w(" you"), t(2)}, {t(0), w(" two"), t(2)}},
                                              plain_.tokens().eot);
  const auto result = run(
      [&](const FakeCall& call, std::span<float> logits) {
        write(call, logits);
        if (call.window == 0 && call.text.empty())
          logits[static_cast<size_t>(plain_.tokens().no_speech)] = 20;
        if (call.window == 0 && !call.text.empty()) {
          for (float& x : logits)
            x *= 0.5f;
        }
      },
      32.0);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->text, "two");
  EXPECT_FALSE(context_of_prompt(1).empty());
}

TEST_F(TranscriberTest, AWindowCarriedOnByItsContextIsDecodedWithoutIt) {
  const int prev = plain_.tokens().sot_prev;
  const auto result = run(
      [&](const FakeCall& call, std::span<float> logits) {
        const bool has_context = call.tokens.front() == prev;
        const std::vector<int> text = {t(0), w(call.window == 0 || has_context ? " one" : " two"),
                                       t(25)};
        const size_t done = call.text.size();
        logits[static_cast<size_t>(done < text.size() ? text[done] : plain_.tokens().eot)] = 10;
      },
      60.0);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->text, "one two");
  ASSERT_EQ(result->retried.size(), 1u);
  EXPECT_EQ(result->retried[0].reason, "repeats_window");
  EXPECT_DOUBLE_EQ(result->retried[0].start, 30);
}

TEST_F(TranscriberTest, WhatIsReallySaidTwiceStaysTwice) {
  const auto result =
      run({{t(0), w(" one"), t(25)}, {t(0), w(" one"), t(25)}, {t(0), w(" one"), t(25)}}, 90.0);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->text, "one one one");
  EXPECT_TRUE(result->dropped.empty());
}

TEST_F(TranscriberTest, ALoopIsLeftAfterItsFirstRoundAndSpeechAfterItIsHeard) {
  // The first window runs in circles until the length limit; from 2 s on there is other text.
  options_.temperatures = {0.0f};
  options_.beam_size = 1;
  const auto result = run(
      [&](const FakeCall& call, std::span<float> logits) {
        const std::vector<int> after = {t(0), w(" two"), t(20)};
        const size_t done = call.text.size();
        int next = plain_.tokens().eot;
        if (call.window > 0) {
          if (done < after.size()) next = after[done];
        } else {
          // <0> one <2> <2> one <2> <2> ...: the time does not move
          const std::vector<int> round = {done == 0 ? t(0) : t(2), w(" one"), t(2)};
          next = round[done % 3];
        }
        logits[static_cast<size_t>(next)] = 10;
      },
      30.0);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->text, "one two");
  ASSERT_EQ(result->dropped.size(), 1u);
  EXPECT_EQ(result->dropped[0].reason, "loop");
  EXPECT_EQ(result->segments[1].seek, 200);
  EXPECT_EQ(context_of_prompt(1), std::vector<int>{}) << "a loop is no context";
}

TEST_F(TranscriberTest, MultilingualFollowsTheLanguage) {
  options_.multilingual = true;
  const int german = plain_.tokens().first_language + 2;
  const Script write = testing::write_windows(
      {{t(0), w(" one"), t(25)}, {t(0), w(" two"), t(25)}, {t(0), w(" three"), t(25)}},
      plain_.tokens().eot);
  const auto result = run(
      [&](const FakeCall& call, std::span<float> logits) {
        if (call.tokens.size() > 1) return write(call, logits);
        // English by the option, then German, then nothing sure.
        if (call.window == 1) logits[static_cast<size_t>(german)] = 9;
      },
      90.0);
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->segments.size(), 3u);
  EXPECT_EQ(result->segments[0].language, "en");
  EXPECT_EQ(result->segments[1].language, "de");
  EXPECT_EQ(result->segments[2].language, "de") << "unsure: as before";
  EXPECT_EQ(result->language, "en");
}

TEST_F(TranscriberTest, ClipsBoundTheWindows) {
  options_.clips = {{5, 8}, {40, -1}};
  std::vector<double> done;
  callbacks_.on_progress = [&](double seconds, double total) {
    done.push_back(seconds);
    EXPECT_DOUBLE_EQ(total, 8);
  };
  const auto result = run({{t(0), w(" one"), t(3)}, {t(0), w(" two"), t(5)}}, 45.0);
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->segments.size(), 2u);
  EXPECT_DOUBLE_EQ(result->segments[0].start, 5);
  EXPECT_DOUBLE_EQ(result->segments[0].end, 8);
  EXPECT_DOUBLE_EQ(result->segments[1].start, 40);
  EXPECT_EQ(done, (std::vector<double>{3, 8}));
}

TEST_F(TranscriberTest, WhatIsBeyondTheAudioIsZeroNotSilence) {
  ASSERT_TRUE(run({{t(0), w(" one"), t(1)}}, 1.0).ok());
  const std::vector<float>& mel = model_->log().mels.front();
  ASSERT_EQ(mel.size(), 3000u * 80);
  EXPECT_NE(mel[0], 0.0f);
  EXPECT_NE(mel[100 * 80 - 1], 0.0f);
  EXPECT_EQ(mel[100 * 80], 0.0f);
  EXPECT_EQ(mel.back(), 0.0f);
}

TEST_F(TranscriberTest, ShortenedContextShortensTheWindows) {
  options_.audio_ctx = 500;  // 10 s
  const auto result =
      run({{t(0), w(" one"), t(10)}, {t(0), w(" two"), t(10)}, {t(0), w(" three"), t(5)}}, 25.0);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->text, "one two three");
  EXPECT_EQ(model_->log().positions, (std::vector<int>{500, 500, 500}));
  EXPECT_DOUBLE_EQ(result->segments[2].start, 20);
}

TEST_F(TranscriberTest, AutomaticContextIsWhatTheLongestClipNeeds) {
  options_.audio_ctx = TranscribeOptions::kAudioCtxAuto;
  ASSERT_TRUE(run({{t(0), w(" one"), t(4)}}, 5.0).ok());
  ASSERT_EQ(model_->log().positions.size(), 1u);
  EXPECT_GT(model_->log().positions[0], 250);
  EXPECT_LT(model_->log().positions[0], 500);
}

TEST_F(TranscriberTest, AutomaticContextIsWholeForLongRecordings) {
  options_.audio_ctx = TranscribeOptions::kAudioCtxAuto;
  ASSERT_TRUE(run({{t(0), w(" one"), t(30)}, {t(0), w(" two"), t(5)}}, 35.0).ok());
  EXPECT_EQ(model_->log().positions, (std::vector<int>{1500, 1500}));
}

TEST_F(TranscriberTest, TimesStayWithinTheRecording) {
  const auto result = run({{t(0), w(" one"), t(0.4), t(0.4), w(" two"), t(29)}}, 0.5);
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->segments.size(), 2u);
  EXPECT_DOUBLE_EQ(result->segments[1].end, 0.5);
  for (const Token& token : result->segments[1].tokens)
    EXPECT_LE(token.end, 0.5);
}

TEST_F(TranscriberTest, EmptySegmentsAreLeftOut) {
  const auto result = run({{t(0), ' ', t(2), t(2), w(" one"), t(4)}}, 5.0);
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->segments.size(), 1u);
  EXPECT_EQ(result->segments[0].id, 0);
  EXPECT_EQ(result->text, "one");
}

TEST_F(TranscriberTest, ACharacterCutByASegmentBorderStaysWhole) {
  const auto result =
      run({{t(0), w("\xE4\xBD"), t(2), t(2), w("\xA0"), w("\xE5\xA5\xBD"), t(4)}}, 5.0);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->text, "\xE4\xBD\xA0\xE5\xA5\xBD");
}

TEST_F(TranscriberTest, NoAudioGivesNoText) {
  options_.language = "";
  const auto result = run({{t(0), w(" you"), t(2)}}, 0.0);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->text, "");
  EXPECT_TRUE(result->segments.empty());
  EXPECT_EQ(result->stats.windows, 0);
}

TEST_F(TranscriberTest, StopKeepsWhatWasDelivered) {
  int segments = 0;
  callbacks_.on_segment = [&](const Segment&) { ++segments; };
  callbacks_.should_stop = [&] { return segments > 0; };
  const auto result = run({{t(0), w(" one"), t(30)}, {t(0), w(" two"), t(30)}}, 60.0);
  EXPECT_EQ(result.status().code(), StatusCode::kCancelled);
  EXPECT_EQ(segments, 1);
}

TEST_F(TranscriberTest, WrongOptionsAreRefusedBeforeAnyWork) {
  options_.language = "klingon";
  EXPECT_EQ(run(Script(), 5.0).status().code(), StatusCode::kInvalidArgument);
  options_.language = "en";
  options_.task = Task::kTranslate;
  EXPECT_EQ(run(Script(), 5.0, {.multilingual = false}).status().code(),
            StatusCode::kInvalidArgument);
  options_.task = Task::kTranscribe;
  options_.suppress_regex = "[";
  EXPECT_EQ(run(Script(), 5.0).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(model_->log().encodes, 0);
}

/// Attention of the row that predicts text token i: the 0.4 s from 0.4 i on.
void even_attention(const FakeCall& call, int, std::span<float> row) {
  const size_t begin = 20 * call.text.size();
  for (size_t i = 0; i < row.size(); ++i) {
    row[i] = i >= begin && i < begin + 20 ? 0.04f : 0.2f / static_cast<float>(row.size());
  }
}

TEST_F(TranscriberTest, WordsHaveTimesAndMoveTheWindows) {
  options_.word_timestamps = true;
  model_ = std::make_unique<FakeModel>(testing::write_windows(
      {{t(0), w(" one"), w(" two"), '.', w(" three"), t(5)}, {t(0), w(" four"), w(" five")}},
      plain_.tokens().eot));
  model_->set_attention(even_attention);
  const auto result = transcribe(*model_, testing::silent_mel(40), 40, options_, callbacks_);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(model_->log().misuse, "");
  ASSERT_GE(result->segments.size(), 2u);
  const Segment& first = result->segments[0];
  ASSERT_EQ(first.words.size(), 3u);
  EXPECT_EQ(first.words[0].text, " one");
  EXPECT_EQ(first.words[1].text, " two.");
  EXPECT_NEAR(first.words[1].start, 0.4, 0.05);
  EXPECT_DOUBLE_EQ(first.start, first.words.front().start);
  EXPECT_DOUBLE_EQ(first.end, first.words.back().end);
  // The first window ends with a single timestamp and is used up; the second goes on after its last
  // word.
  EXPECT_EQ(result->segments[1].seek, 3000);
  if (result->segments.size() > 2) {
    EXPECT_LT(result->segments[2].seek, 4000);
  }
  for (const Segment& segment : result->segments) {
    for (const Token& token : segment.tokens) {
      EXPECT_GE(token.start, segment.start);
      EXPECT_LE(token.end, segment.end);
    }
  }
}

TEST_F(TranscriberTest, HallucinationBetweenSilencesIsDroppedAndReported) {
  options_.word_timestamps = true;
  options_.hallucination_silence_threshold = 1.0f;
  // All words are improbable, timestamps are certain.
  const Script write = testing::write_windows({{t(0), w(" one"), w(" two"), w(" three"), t(5)}},
                                              plain_.tokens().eot);
  model_ = std::make_unique<FakeModel>([&](const FakeCall& call, std::span<float> logits) {
    write(call, logits);
    const auto words_end = logits.begin() + plain_.tokens().eot;
    std::for_each(logits.begin(), words_end, [](float& x) { x *= 0.35f; });
    std::replace(words_end, logits.end(), 0.0f, -20.0f);
  });
  options_.temperatures = {0.0f};
  model_->set_attention(even_attention);
  const auto result = transcribe(*model_, testing::silent_mel(5), 5, options_, callbacks_);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->text, "");
  ASSERT_FALSE(result->dropped.empty());
  EXPECT_EQ(result->dropped[0].reason, "hallucination_silence");
  EXPECT_EQ(result->dropped[0].text, "one two three");
}

TEST_F(TranscriberTest, RandomModelsGiveOrderedBoundedTranscripts) {
  for (uint64_t salt = 0; salt < 12; ++salt) {
    options_.seed = salt;
    options_.beam_size = 1 + static_cast<int>(salt % 3);
    options_.temperatures = {0.0f, 0.8f};
    options_.max_new_tokens = 20;
    const auto result = run(
        [salt](const FakeCall& call, std::span<float> logits) {
          uint64_t hash = salt * 977 + static_cast<uint64_t>(call.window);
          for (const int id : call.text)
            hash = (hash ^ static_cast<uint64_t>(id)) * 0x100000001B3u;
          for (float& x : logits) {
            hash = hash * 6364136223846793005u + 1442695040888963407u;
            x = static_cast<float>(hash >> 60);
          }
        },
        50.0);
    ASSERT_TRUE(result.ok()) << result.status().message();
    double earliest = 0;
    for (const Segment& segment : result->segments) {
      EXPECT_GE(segment.start, earliest);
      EXPECT_GE(segment.end, segment.start);
      EXPECT_LE(segment.end, 50.0);
      earliest = segment.start;
    }
  }
}

}  // namespace
}  // namespace sotto::whisper
