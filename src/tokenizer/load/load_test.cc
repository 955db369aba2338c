#include "tokenizer/load/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "tokenizer/load/byte_alphabet.h"

namespace sotto::tokenizer {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

/// Written in the byte alphabet: the inverse of bytes_of_alphabet(), found by trying its
/// characters.
std::string in_alphabet(std::string_view bytes) {
  static const std::vector<std::string> kCharacters = [] {
    std::vector<std::string> characters(256);
    for (char32_t code = 0; code < 0x200; ++code) {
      std::string text;
      utf8_append(code, text);
      if (const auto byte = bytes_of_alphabet(text)) {
        characters[static_cast<unsigned char>(byte->front())] = text;
      }
    }
    return characters;
  }();
  std::string out;
  for (const char c : bytes)
    out += kCharacters[static_cast<unsigned char>(c)];
  return out;
}

/// A small GPT-2-like vocabulary: the bytes, " t" and " th".
json vocabulary() {
  json vocab = json::object();
  for (int byte = 0; byte < 256; ++byte) {
    vocab[in_alphabet(std::string(1, static_cast<char>(byte)))] = byte;
  }
  vocab["Ġt"] = 256;
  vocab["Ġth"] = 257;
  return vocab;
}

json tokenizer_json() {
  return {{"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
          {"model", {{"type", "BPE"}, {"vocab", vocabulary()}, {"merges", {"Ġ t", "Ġt h"}}}},
          {"added_tokens", {{{"id", 258}, {"content", "<|endoftext|>"}, {"special", true}}}}};
}

Status status_of(const json& root) {
  return from_tokenizer_json(root.dump()).status();
}

TEST(ByteAlphabet, CoversAllBytesOnce) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string bytes(1, static_cast<char>(byte));
    EXPECT_EQ(bytes_of_alphabet(in_alphabet(bytes)), bytes);
    EXPECT_EQ(alphabet_of_bytes(bytes), in_alphabet(bytes));
  }
  EXPECT_EQ(in_alphabet(" "), "Ġ");
  EXPECT_EQ(in_alphabet("\n"), "Ċ");
  EXPECT_FALSE(bytes_of_alphabet("日").has_value());
  EXPECT_FALSE(bytes_of_alphabet(" ").has_value());
  EXPECT_FALSE(bytes_of_alphabet("\xFF").has_value());
}

TEST(TokenizerJson, Reads) {
  const auto tokenizer = from_tokenizer_json(tokenizer_json().dump());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  EXPECT_THAT((*tokenizer)->encode("a tho"), ElementsAre('a', 257, 'o'));
  EXPECT_EQ((*tokenizer)->special_id("<|endoftext|>"), 258);
  EXPECT_EQ((*tokenizer)->vocabulary_size(), 259);
}

TEST(TokenizerJson, MergesMayBePairs) {
  json root = tokenizer_json();
  root["model"]["merges"] = json::array({json::array({"Ġ", "t"}), json::array({"Ġt", "h"})});
  const auto tokenizer = from_tokenizer_json(root.dump());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  EXPECT_THAT((*tokenizer)->encode(" th"), ElementsAre(257));
}

TEST(TokenizerJson, OtherPipelinesAreUnsupported) {
  const auto expect = [](std::string_view pointer, const json& value) {
    json root = tokenizer_json();
    root[json::json_pointer(std::string(pointer))] = value;
    EXPECT_EQ(status_of(root).code(), StatusCode::kUnsupported) << pointer;
  };
  expect("/model/type", "Unigram");
  expect("/model/byte_fallback", true);
  expect("/model/end_of_word_suffix", "</w>");
  expect("/normalizer", {{"type", "NFC"}});
  expect("/pre_tokenizer", {{"type", "Whitespace"}});
  expect("/pre_tokenizer", nullptr);
  expect("/pre_tokenizer/add_prefix_space", true);
  expect("/pre_tokenizer/use_regex", false);
}

TEST(TokenizerJson, HostileTextIsCorrupt) {
  const auto expect = [](std::string_view pointer, const json& value, std::string_view message) {
    json root = tokenizer_json();
    root[json::json_pointer(std::string(pointer))] = value;
    const Status status = status_of(root);
    EXPECT_EQ(status.code(), StatusCode::kCorrupt) << pointer;
    EXPECT_THAT(status.message(), HasSubstr(std::string(message)));
  };
  expect("/model/vocab/x", 1'000'000'000'000, "outside of");
  expect("/model/vocab/x", 18446744073709551615ULL, "outside of");
  expect("/model/vocab/x", -1, "outside of");
  expect("/model/vocab/x", 1.5, "not an integer");
  expect("/model/vocab/x", "5", "not an integer");
  expect("/model/vocab/xy", 65, "two tokens have id 65");
  expect("/model/vocab/日", 300, "byte alphabet");
  expect("/model/vocab", json::array(), "not an object");
  expect("/model/merges", nullptr, "no list of merges");
  expect("/model/merges/0", "Ġ", "not two tokens");
  expect("/model/merges/0", "Ġ q", "not in the vocabulary");
  expect("/model/merges/0", 5, "neither text nor a pair");
  expect("/model", nullptr, "no model");
  expect("/added_tokens", "x", "not a list");
  expect("/added_tokens/0/id", 1 << 20, "outside of");
  expect("/added_tokens/0/content", "", "lacks its id or content");
  EXPECT_EQ(from_tokenizer_json("").status().code(), StatusCode::kCorrupt);
  EXPECT_EQ(from_tokenizer_json("[]").status().code(), StatusCode::kCorrupt);
  EXPECT_EQ(from_tokenizer_json(std::string(100'000, '{')).status().code(), StatusCode::kCorrupt);
}

TEST(VocabAndMerges, ReadsAndNamesTheFaultyFile) {
  const std::string vocab = vocabulary().dump();
  const auto tokenizer = from_vocab_and_merges(vocab, "#version: 0.2\nĠ t\r\nĠt h\n\n");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  EXPECT_THAT((*tokenizer)->encode("a th"), ElementsAre('a', 257));

  EXPECT_THAT(from_vocab_and_merges(vocab, "Ġt\n").status().message(), HasSubstr("merges.txt"));
  EXPECT_THAT(from_vocab_and_merges("{", "Ġ t\n").status().message(), HasSubstr("vocab.json"));
  EXPECT_EQ(from_vocab_and_merges(vocab, "").status().code(), StatusCode::kCorrupt);
}

TEST(CTranslate2Vocabulary, TextAndJsonGiveTheSame) {
  std::vector<std::string> lines;
  for (int byte = 0; byte < 256; ++byte) {
    lines.push_back(in_alphabet(std::string(1, static_cast<char>(byte))));
  }
  lines.insert(lines.end(), {"Ġt", "Ġth", "", "<|endoftext|>"});
  std::string text;
  for (const std::string& line : lines)
    text += line + "\n";
  for (const auto& tokenizer :
       {from_vocabulary_txt(text), from_vocabulary_json(json(lines).dump())}) {
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
    EXPECT_EQ((*tokenizer)->vocabulary_size(), 260);
    EXPECT_THAT((*tokenizer)->encode(" tho"), ElementsAre(257, 'o'));
    EXPECT_TRUE((*tokenizer)->is_special(259));
  }
  EXPECT_EQ(from_vocabulary_json("{}").status().code(), StatusCode::kCorrupt);
  EXPECT_EQ(from_vocabulary_json("[1]").status().code(), StatusCode::kCorrupt);
  EXPECT_EQ(from_vocabulary_txt("").status().code(), StatusCode::kCorrupt);
}

TEST(GgmlVocabulary, SpecialsAreImplied) {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) {
    tokens.emplace_back(1, static_cast<char>(byte));
  }
  tokens.emplace_back("ab");
  tokens.emplace_back("abc");
  while (tokens.size() < 50257) {
    tokens.push_back("filler " + std::to_string(tokens.size()));
  }
  const auto tokenizer = from_ggml_vocabulary(tokens, 51865);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  EXPECT_EQ((*tokenizer)->vocabulary_size(), 51865);
  EXPECT_EQ((*tokenizer)->special_id("<|startoftranscript|>"), 50258);
  EXPECT_EQ((*tokenizer)->special_id("<|30.00|>"), 51864);
  EXPECT_EQ((*tokenizer)->encode("abcab"), std::vector<int>({257, 256}));

  EXPECT_EQ(from_ggml_vocabulary(tokens, 51866).ok(), true);  // large-v3: the same ordinary tokens
  tokens.pop_back();
  EXPECT_EQ(from_ggml_vocabulary(tokens, 51865).status().code(), StatusCode::kCorrupt);
  EXPECT_EQ(from_ggml_vocabulary(tokens, 100).status().code(), StatusCode::kUnsupported);
}

class LoadForModel : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    model_.path = (folder_ / "model.bin").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  std::filesystem::path folder_;
  models::ModelFile model_;
};

TEST_F(LoadForModel, NothingBesideTheModelIsNotFound) {
  const Status status = load_for_model(model_).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr(model_.path));
  EXPECT_THAT(status.message(), HasSubstr("tokenizer.json"));
}

TEST_F(LoadForModel, TakesTheFilesBesideAFileOrInAFolder) {
  write("vocab.json", vocabulary().dump());
  write("merges.txt", "Ġ t\n");
  auto tokenizer = load_for_model(model_);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  EXPECT_EQ((*tokenizer)->vocabulary_size(), 258);

  write("tokenizer.json", tokenizer_json().dump());  // goes first
  model_.path = folder_.string();
  tokenizer = load_for_model(model_);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  EXPECT_EQ((*tokenizer)->vocabulary_size(), 259);

  write("tokenizer.json", "{");
  EXPECT_THAT(load_for_model(model_).status().message(), HasSubstr("not valid JSON"));
}

TEST_F(LoadForModel, CTranslate2sOwnVocabularyGoesFirst) {
  std::string text;
  for (int byte = 0; byte < 256; ++byte) {
    text += in_alphabet(std::string(1, static_cast<char>(byte))) + "\n";
  }
  write("vocabulary.txt", text);
  write("tokenizer.json", tokenizer_json().dump());
  model_.format = models::FileFormat::kCTranslate2;
  const auto tokenizer = load_for_model(model_);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  EXPECT_EQ((*tokenizer)->vocabulary_size(), 256);
}

TEST_F(LoadForModel, AGgmlFileBringsItsOwnVocabulary) {
  model_.vocabulary = {"a"};
  model_.metadata["n_vocab"] = int64_t{51864};
  EXPECT_EQ(load_for_model(model_).status().code(), StatusCode::kCorrupt);
}

}  // namespace
}  // namespace sotto::tokenizer
