// Ids and non-speech tokens of independent programs (tools/golden/make_tokenizer_golden.py) for the
// real vocabularies.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "base/utf8.h"
#include "tokenizer/load/load.h"
#include "tokenizer/whisper_tokens.h"

namespace sotto::tokenizer {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << "cannot read " << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string model_folder(const std::string& name) {
  const char* models = std::getenv("SOTTO_TEST_MODELS");
  EXPECT_NE(models, nullptr) << "set SOTTO_TEST_MODELS (scripts/test does)";
  return std::string(models != nullptr ? models : "") + "/" + name;
}

std::unique_ptr<Tokenizer> load(const std::string& name, const std::string& source) {
  auto tokenizer = source == "tokenizer.json"
                       ? from_tokenizer_json(read(model_folder(name) + "/" + source))
                       : from_vocabulary_txt(read(model_folder(name) + "/" + source));
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  return tokenizer.ok() ? std::move(tokenizer).value() : nullptr;
}

nlohmann::json golden_of(const std::string& name) {
  const auto all = nlohmann::json::parse(read(SOTTO_GOLDEN_IDS), nullptr, false);
  EXPECT_TRUE(all.contains(name));
  return all.value(name, nlohmann::json::object());
}

void expect_ids(const Tokenizer& tokenizer, const nlohmann::json& rows) {
  ASSERT_GT(rows.size(), 100U);
  for (const auto& row : rows) {
    const auto text = row["text"].get<std::string>();
    const std::vector<int> ids = tokenizer.encode(text);
    EXPECT_EQ(ids, row["ids"].get<std::vector<int>>()) << text;
    EXPECT_EQ(tokenizer.decode(ids), text);

    Utf8Stream stream;  // token by token: no character is broken
    std::string streamed;
    for (const int id : ids)
      streamed += stream.feed(tokenizer.token_bytes(id));
    EXPECT_EQ(streamed + stream.flush(), text);
  }
}

class Golden : public testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  void SetUp() override {
    const auto& [name, source] = GetParam();
    tokenizer_ = load(name, source);
    ASSERT_NE(tokenizer_, nullptr);
    golden_ = golden_of(name);
  }

  std::unique_ptr<Tokenizer> tokenizer_;
  nlohmann::json golden_;
};

TEST_P(Golden, IdsAndTextsAgree) {
  expect_ids(*tokenizer_, golden_["texts"]);
}

TEST_P(Golden, NonSpeechTokensAgree) {
  EXPECT_EQ(non_speech_tokens(*tokenizer_), golden_["non_speech"].get<std::vector<int>>());
}

TEST_P(Golden, SpecialTokensAreComplete) {
  const auto tokens = whisper_tokens(tokenizer_->vocabulary_size());
  ASSERT_TRUE(tokens.ok()) << tokens.status().message();
  EXPECT_EQ(tokens->multilingual, std::get<0>(GetParam()) == "base");
  for (int id = 0; id < tokenizer_->vocabulary_size(); ++id) {
    EXPECT_EQ(tokenizer_->is_special(id), id >= tokens->eot) << id;
  }
  EXPECT_EQ(tokenizer_->special_id("<|de|>"), tokens->language_token("de"));
  EXPECT_EQ(tokenizer_->special_id("<|30.00|>"), tokenizer_->vocabulary_size() - 1);
}

INSTANTIATE_TEST_SUITE_P(Models, Golden,
                         testing::Combine(testing::Values("tiny.en", "base"),
                                          testing::Values("tokenizer.json", "vocabulary.txt")),
                         [](const auto& param_info) {
                           return std::string(std::get<0>(param_info.param) == "base" ? "Base"
                                                                                      : "TinyEn") +
                                  (std::get<1>(param_info.param) == "vocabulary.txt" ? "Ranks"
                                                                                     : "Merges");
                         });

// Whisper's vocabularies are encoded by rank; the same words must come out of GPT-2's list of
// merges.
TEST(GoldenMerges, IdsAndTextsAgree) {
  const auto root =
      nlohmann::json::parse(read(model_folder("tiny.en") + "/tokenizer.json"), nullptr, false);
  ASSERT_TRUE(root.contains("model"));
  std::string merges;
  for (const auto& merge : root["model"]["merges"])
    merges += merge.get<std::string>() + "\n";
  const auto tokenizer = from_vocab_and_merges(root["model"]["vocab"].dump(), merges);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  expect_ids(**tokenizer, golden_of("tiny.en")["texts"]);
}

}  // namespace
}  // namespace sotto::tokenizer
