#include "tokenizer/whisper_tokens.h"

#include <gtest/gtest.h>

#include <set>

namespace sotto::tokenizer {
namespace {

// Ids read from the tokenizer.json and config.json of openai/whisper-tiny.en, -base and -large-v3.
TEST(WhisperTokens, IdsOfTheThreeVocabularies) {
  const auto english = whisper_tokens(51864);
  ASSERT_TRUE(english.ok());
  EXPECT_FALSE(english->multilingual);
  EXPECT_EQ(english->eot, 50256);
  EXPECT_EQ(english->sot, 50257);
  EXPECT_EQ(english->first_language, 50258);
  EXPECT_EQ(english->no_timestamps, 50362);
  EXPECT_EQ(english->timestamp_begin, 50363);

  const auto base = whisper_tokens(51865);
  ASSERT_TRUE(base.ok());
  EXPECT_TRUE(base->multilingual);
  EXPECT_EQ(base->language_count, 99);
  EXPECT_EQ(base->eot, 50257);
  EXPECT_EQ(base->translate, 50358);
  EXPECT_EQ(base->transcribe, 50359);
  EXPECT_EQ(base->sot_lm, 50360);
  EXPECT_EQ(base->sot_prev, 50361);
  EXPECT_EQ(base->no_speech, 50362);
  EXPECT_EQ(base->timestamp_begin, 50364);

  const auto large_v3 = whisper_tokens(51866);
  ASSERT_TRUE(large_v3.ok());
  EXPECT_EQ(large_v3->language_count, 100);
  EXPECT_EQ(large_v3->language_token("yue"), 50358);
  EXPECT_EQ(large_v3->transcribe, 50360);
  EXPECT_EQ(large_v3->timestamp_begin, 50365);
}

TEST(WhisperTokens, OtherVocabulariesAreUnsupported) {
  for (const int size : {-1, 0, 51863, 51867, 32000, 2'000'000'000}) {
    EXPECT_EQ(whisper_tokens(size).status().code(), StatusCode::kUnsupported) << size;
  }
}

TEST(WhisperTokens, LanguagesMapBothWays) {
  const auto tokens = whisper_tokens(51865);
  ASSERT_TRUE(tokens.ok());
  for (const Language& language : languages().first(99)) {
    const int id = tokens->language_token(language.code);
    ASSERT_GE(id, tokens->first_language);
    EXPECT_EQ(tokens->language_of(id), language.code);
  }
  EXPECT_EQ(tokens->language_token("yue"), -1);
  EXPECT_EQ(tokens->language_token("xx"), -1);
  EXPECT_EQ(tokens->language_of(tokens->sot), "");
  EXPECT_EQ(tokens->language_of(tokens->translate), "");
}

TEST(WhisperTokens, SpecialTextsAreUniqueAndComplete) {
  const auto tokens = whisper_tokens(51865);
  ASSERT_TRUE(tokens.ok());
  std::set<std::string> texts;
  for (int id = tokens->eot; id < 51865; ++id)
    texts.insert(special_token_text(*tokens, id));
  EXPECT_EQ(texts.size(), static_cast<size_t>(51865 - tokens->eot));
  EXPECT_EQ(texts.count(""), 0U);
  EXPECT_EQ(special_token_text(*tokens, tokens->timestamp_begin + 1), "<|0.02|>");
  EXPECT_EQ(special_token_text(*tokens, tokens->timestamp_begin + 1500), "<|30.00|>");
  EXPECT_EQ(special_token_text(*tokens, tokens->eot - 1), "");
  EXPECT_EQ(special_token_text(*tokens, 51865), "");
}

}  // namespace
}  // namespace sotto::tokenizer
