#include "whisper/guards.h"

#include <gtest/gtest.h>

namespace sotto::whisper {
namespace {

WindowText window(std::string text, float avg_logprob, float no_speech, float temperature = 0) {
  WindowText decoded;
  decoded.text = std::move(text);
  decoded.avg_logprob = avg_logprob;
  decoded.no_speech_prob = no_speech;
  decoded.temperature = temperature;
  decoded.attempts = temperature > 0 ? 6 : 1;
  return decoded;
}

std::string reason(const WindowText& decoded, const TranscribeOptions& options = {}) {
  return std::string(reason_to_drop(decoded, options).value_or(""));
}

TEST(BareText, IsLettersAndDigits) {
  EXPECT_EQ(bare_text(" Thank you, VERY much! "), "thank you very much");
  EXPECT_EQ(bare_text("... "), "");
  EXPECT_EQ(bare_text("É 3."), "É 3");
}

TEST(StockPhrase, IsTheWholeText) {
  EXPECT_TRUE(is_stock_phrase("Thank you."));
  EXPECT_TRUE(is_stock_phrase(" You "));
  EXPECT_TRUE(is_stock_phrase("Untertitel der Amara.org-Community"));
  EXPECT_TRUE(is_stock_phrase("ご視聴ありがとうございました。"));
  EXPECT_FALSE(is_stock_phrase("Thank you for the flowers."));
  EXPECT_FALSE(is_stock_phrase(""));
}

TEST(ReasonToDrop, SpeechStands) {
  EXPECT_EQ(reason(window("Thank you.", -0.3f, 0.02f)), "");
  EXPECT_EQ(reason(window("Some words.", -0.9f, 0.9f)), "") << "probable text is no silence";
  EXPECT_EQ(reason(window("Some words.", -1.5f, 0.1f, 1.0f)), "") << "speech hard to hear";
}

TEST(ReasonToDrop, SilenceByBothProbabilities) {
  EXPECT_EQ(reason(window("Some words.", -1.2f, 0.7f)), "no_speech");
}

TEST(ReasonToDrop, UnsureTextNeedsLessSilence) {
  EXPECT_EQ(reason(window("Some words.", -1.1f, 0.4f, 1.0f)), "unsure");
  EXPECT_EQ(reason(window("Some words.", -0.9f, 0.4f, 1.0f)), "");
  EXPECT_EQ(reason(window("Some words.", -1.1f, 0.4f, 0.2f)), "") << "not every temperature failed";
  EXPECT_EQ(reason(window("Some words.", -1.1f, 0.4f)), "") << "no other temperature was allowed";
}

TEST(ReasonToDrop, StockPhrasesOnlyBreakTies) {
  EXPECT_EQ(reason(window("You", -0.7f, 0.9f)), "stock_phrase");
  EXPECT_EQ(reason(window("You", -0.7f, 0.5f)), "");
}

TEST(ReasonToDrop, ThePromptIsNotEchoedIntoSilence) {
  TranscribeOptions options;
  options.initial_prompt = "The assistant is called Jarvix.";
  EXPECT_EQ(reason(window("is called Jarvix", -0.4f, 0.9f), options), "prompt_echo");
  EXPECT_EQ(reason(window("is called Jarvix", -0.4f, 0.1f), options), "");
  const char* again =
      "The assistant is called Jarvix, which is called Jarvix, which is called Jarvix.";
  EXPECT_EQ(reason(window(again, -0.7f, 0.9f), options), "prompt_echo");
  EXPECT_EQ(reason(window("Is the assistant in the kitchen?", -0.7f, 0.9f), options), "");
  options.initial_prompt.clear();
  options.hotwords = "Jarvix, sotto";
  EXPECT_EQ(reason(window("Jarvix", -0.4f, 0.9f), options), "prompt_echo");
  EXPECT_EQ(reason(window("", -0.4f, 0.9f), options), "");
}

TEST(ReasonToDrop, CanBeSwitchedOff) {
  TranscribeOptions options;
  options.drop_made_up_text = false;
  EXPECT_EQ(reason(window("You", -0.7f, 0.9f), options), "");
  EXPECT_EQ(reason(window("Some words.", -1.1f, 0.4f, 1.0f), options), "");
  EXPECT_EQ(reason(window("Some words.", -1.2f, 0.7f), options), "no_speech");
  options.no_speech_threshold.reset();
  options.drop_made_up_text = true;
  EXPECT_EQ(reason(window("You", -0.7f, 0.9f), options), "");
}

}  // namespace
}  // namespace sotto::whisper
