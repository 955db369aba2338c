#include "tokenizer/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace sotto::tokenizer {
namespace {

using testing::ElementsAre;

/// The 256 bytes, then `more`, as ordinary tokens.
BpeData byte_data(const std::vector<std::string>& more) {
  BpeData data;
  for (int byte = 0; byte < 256; ++byte)
    data.tokens.emplace_back(1, static_cast<char>(byte));
  data.tokens.insert(data.tokens.end(), more.begin(), more.end());
  return data;
}

std::unique_ptr<Tokenizer> make(BpeData data) {
  auto tokenizer = Tokenizer::create(std::move(data));
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  return std::move(tokenizer).value();
}

TEST(Tokenizer, RanksAreIdsWithoutMerges) {
  const auto tokenizer = make(byte_data({"bc", "ab", "abc", "abcd"}));  // 256, 257, 258, 259
  EXPECT_THAT(tokenizer->encode("ab"), ElementsAre(257));
  EXPECT_THAT(tokenizer->encode("abc"), ElementsAre(258));
  EXPECT_THAT(tokenizer->encode("abcx"), ElementsAre(258, 'x'));  // a+bc first, then abc
  EXPECT_THAT(tokenizer->encode("xabcd"), ElementsAre('x', 259));
}

TEST(Tokenizer, MergesGoByTheirOrderNotByLength) {
  BpeData data = byte_data({"bc", "ab", "abc"});
  data.merges = {{"b", "c"}, {"a", "b"}, {"ab", "c"}};
  const auto tokenizer = make(std::move(data));
  // b+c goes first and nothing merges a with bc, although "abc" is a token.
  EXPECT_THAT(tokenizer->encode("abc"), ElementsAre('a', 256));
  EXPECT_THAT(tokenizer->encode("abab"), ElementsAre(257, 257));
}

TEST(Tokenizer, EqualRanksMergeFromTheLeft) {
  const auto tokenizer = make(byte_data({"aa"}));
  EXPECT_THAT(tokenizer->encode("aaaaa"), ElementsAre(256, 256, 'a'));
}

TEST(Tokenizer, SpecialTokensAreNeverEncodedNorDecoded) {
  BpeData data = byte_data({"<|", "|>", "<|en|>"});
  data.special = {{"<|en|>", 258}};
  const auto tokenizer = make(std::move(data));
  EXPECT_THAT(tokenizer->encode("<|en|>"), ElementsAre(256, 'e', 'n', 257));
  EXPECT_EQ(tokenizer->special_id("<|en|>"), 258);
  EXPECT_EQ(tokenizer->special_id("<|de|>"), -1);
  EXPECT_TRUE(tokenizer->is_special(258));
  EXPECT_FALSE(tokenizer->is_special(257));
  EXPECT_FALSE(tokenizer->is_special(-1));
  EXPECT_EQ(tokenizer->token_bytes(258), "<|en|>");
  EXPECT_EQ(tokenizer->decode(std::vector<int>{'h', 258, 'i', -1, 1 << 30}), "hi");
  EXPECT_EQ(tokenizer->token_bytes(259), "");
  EXPECT_EQ(tokenizer->vocabulary_size(), 259);
}

TEST(Tokenizer, EveryByteStringRoundTrips) {
  const auto tokenizer = make(byte_data({"th", "the", " the", "\xE6\x97", "\xE6\x97\xA5", "  "}));
  std::mt19937 random(7);  // NOLINT: a fixed seed makes failures repeatable
  for (int round = 0; round < 500; ++round) {
    std::string text(random() % 60, ' ');
    for (char& c : text)
      c = static_cast<char>(random() % (round % 2 == 0 ? 256 : 128));
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  }
}

TEST(Tokenizer, LongWordsAreHandled) {
  const auto tokenizer = make(byte_data({"aa", "aaaa", "aaaaaaaa"}));
  const std::string text(1'100'001, 'a');
  const std::vector<int> ids = tokenizer->encode(text);
  EXPECT_EQ(tokenizer->decode(ids), text);
  EXPECT_EQ(ids.size(), 137'501U);
}

TEST(Tokenizer, CreateRefusesIncompleteData) {
  BpeData no_byte = byte_data({});
  no_byte.tokens[7].clear();
  EXPECT_EQ(Tokenizer::create(no_byte).status().code(), StatusCode::kCorrupt);

  BpeData bad_special = byte_data({});
  bad_special.special = {{"<|x|>", 256}};
  EXPECT_EQ(Tokenizer::create(bad_special).status().code(), StatusCode::kCorrupt);

  BpeData bad_merge = byte_data({});
  bad_merge.merges = {{"a", "b"}};
  EXPECT_EQ(Tokenizer::create(bad_merge).status().code(), StatusCode::kCorrupt);

  EXPECT_FALSE(Tokenizer::create(BpeData{}).ok());
}

}  // namespace
}  // namespace sotto::tokenizer
