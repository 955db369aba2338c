#include "whisper/prompt.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "whisper/testing/fake_model.h"

namespace sotto::whisper {
namespace {

using testing::FakeModel;

std::vector<int> join(std::initializer_list<std::vector<int>> parts) {
  std::vector<int> all;
  for (const auto& part : parts)
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

class PromptTest : public ::testing::Test {
 protected:
  PromptTest()
      : model_({}), t_(model_.tokens()), start_{t_.sot, t_.language_token("en"), t_.transcribe} {}

  Prompt first() { return PromptBuilder(model_, options_, "en").next(true); }
  [[nodiscard]] std::vector<int> encode(const std::string& text) const {
    return model_.tokenizer().encode(text);
  }

  /// Ids 0, 1, 2, … as stand-ins for decoded text.
  static std::vector<int> counting(int count) {
    std::vector<int> ids(static_cast<size_t>(count));
    std::iota(ids.begin(), ids.end(), 0);
    return ids;
  }

  FakeModel model_;
  TranscribeOptions options_;
  const tokenizer::WhisperTokens& t_;
  std::vector<int> start_;
};

TEST_F(PromptTest, WithoutContextOnlyTheTask) {
  EXPECT_EQ(first().tokens, start_);
  EXPECT_EQ(first().sot, 0u);
  options_.task = Task::kTranslate;
  options_.without_timestamps = true;
  EXPECT_EQ(first().tokens,
            (std::vector<int>{t_.sot, t_.language_token("en"), t_.translate, t_.no_timestamps}));
}

TEST_F(PromptTest, EnglishOnlyModelsHaveNoLanguageAndTask) {
  FakeModel english({}, {.multilingual = false});
  EXPECT_EQ(PromptBuilder(english, options_, "en").next(true).tokens,
            std::vector<int>{english.tokens().sot});
}

TEST_F(PromptTest, InitialPromptIsTrimmedAndGetsALeadingSpace) {
  options_.initial_prompt = "  Sotto, XDNA \n";
  const Prompt prompt = first();
  EXPECT_EQ(prompt.tokens, join({{t_.sot_prev}, encode(" Sotto, XDNA"), start_}));
  EXPECT_EQ(prompt.tokens[prompt.sot], t_.sot);
  options_.initial_prompt = " \n ";
  EXPECT_EQ(first().tokens, start_);
}

TEST_F(PromptTest, EarlierTextFollowsTheInitialPrompt) {
  options_.initial_prompt = "ab";
  PromptBuilder prompts(model_, options_, "en");
  prompts.append(counting(3));
  EXPECT_EQ(prompts.next(false).tokens, join({{t_.sot_prev}, encode(" ab"), {0, 1, 2}, start_}));
  prompts.forget();
  EXPECT_EQ(prompts.next(false).tokens, start_);
}

TEST_F(PromptTest, CarriedInitialPromptSurvives) {
  options_.initial_prompt = "ab";
  options_.carry_initial_prompt = true;
  PromptBuilder prompts(model_, options_, "en");
  prompts.append(counting(300));
  std::vector<int> tail = counting(300);
  tail.erase(tail.begin(), tail.end() - (223 - 3));
  EXPECT_EQ(prompts.next(false).tokens, join({{t_.sot_prev}, encode(" ab"), tail, start_}));
  prompts.forget();
  EXPECT_EQ(prompts.next(false).tokens, join({{t_.sot_prev}, encode(" ab"), start_}));
}

TEST_F(PromptTest, LongTextIsCutToItsLast223Tokens) {
  PromptBuilder prompts(model_, options_, "en");
  prompts.append(counting(200));
  prompts.append(counting(250));
  const Prompt prompt = prompts.next(false);
  std::vector<int> tail = counting(250);
  tail.erase(tail.begin(), tail.end() - 223);
  EXPECT_EQ(prompt.tokens, join({{t_.sot_prev}, tail, start_}));
}

TEST_F(PromptTest, AnInitialPromptOfAnyLengthIsAccepted) {
  options_.initial_prompt = std::string(100000, 'x');
  for (const bool carry : {false, true}) {
    options_.carry_initial_prompt = carry;
    EXPECT_EQ(first().tokens.size(), 1u + 223 + 3);
  }
}

TEST_F(PromptTest, HotwordsStandBeforeEveryWindowAndKeepTheirStart) {
  options_.hotwords = "ab";
  PromptBuilder prompts(model_, options_, "en");
  EXPECT_EQ(prompts.next(true).tokens, join({{t_.sot_prev}, encode(" ab"), start_}));
  prompts.append({});
  prompts.append(counting(2));
  prompts.forget();
  prompts.append(counting(2));
  EXPECT_EQ(prompts.next(false).tokens, join({{t_.sot_prev}, encode(" ab"), {0, 1}, start_}));

  options_.hotwords = "ab" + std::string(1000, 'x');
  const Prompt prompt = first();
  EXPECT_EQ(prompt.tokens.size(), 1u + 223 + 3);
  EXPECT_EQ(prompt.tokens[2], 'a');
}

TEST_F(PromptTest, ContextCanBeLimitedOrSwitchedOff) {
  options_.max_context_tokens = 2;
  PromptBuilder prompts(model_, options_, "en");
  prompts.append(counting(5));
  EXPECT_EQ(prompts.next(false).tokens, join({{t_.sot_prev}, {3, 4}, start_}));
  options_.max_context_tokens = 0;
  options_.initial_prompt = "ab";
  EXPECT_EQ(first().tokens, start_);
  options_.max_context_tokens = 100000;
  PromptBuilder wide(model_, options_, "en");
  wide.append(counting(1000));
  EXPECT_EQ(wide.next(false).tokens.size(), 1u + 223 + 3);
}

TEST_F(PromptTest, PrefixOpensTheFirstWindowOnly) {
  options_.prefix = "ab";
  PromptBuilder prompts(model_, options_, "en");
  const Prompt prompt = prompts.next(true);
  EXPECT_EQ(prompt.tokens, join({start_, {t_.timestamp_begin}, encode(" ab")}));
  EXPECT_EQ(prompt.given, 4u);
  EXPECT_EQ(prompt.transcript().front(), t_.timestamp_begin);
  EXPECT_EQ(prompts.next(false).tokens, start_);
  EXPECT_EQ(prompts.next(false).given, 0u);

  options_.without_timestamps = true;
  EXPECT_EQ(first().tokens, join({start_, {t_.no_timestamps}, encode(" ab")}));
}

TEST_F(PromptTest, PrefixAndPromptTogetherLeaveRoomForText) {
  options_.prefix = std::string(1000, 'p');
  options_.initial_prompt = std::string(1000, 'i');
  options_.hotwords = std::string(1000, 'h');
  for (const bool carry : {false, true}) {
    options_.carry_initial_prompt = carry;
    const Prompt prompt = first();
    EXPECT_EQ(prompt.given, 223u);
    EXPECT_LT(prompt.tokens.size(), 448u);
  }
}

}  // namespace
}  // namespace sotto::whisper
