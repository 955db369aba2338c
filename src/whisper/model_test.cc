#include "whisper/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "whisper/testing/loaded_checkpoint.h"
#include "whisper/testing/random_checkpoint.h"

namespace sotto::whisper {
namespace {

using ::testing::HasSubstr;
using testing::RandomCheckpoint;
using testing::RandomGeometry;

constexpr int kEnglish = 51864;
constexpr int kMultilingual = 51865;

Result<std::unique_ptr<Model>> load(const std::string& path) {
  return load_model(path, testing::make_test_backend());
}

/// Logits after a short prompt.
std::vector<float> logits_of(Model& model) {
  const auto window = model.encode(testing::random_mel(model.config(), 20, 1), 20);
  EXPECT_TRUE(window.ok()) << window.status().message();
  const auto decoder = model.create_decoder(2);
  EXPECT_TRUE(decoder.ok()) << decoder.status().message();
  const tokenizer::WhisperTokens& tokens = model.tokens();
  return testing::feed(**decoder, model.config(), **window,
                       {tokens.sot, tokens.no_timestamps, 300});
}

TEST(Model, LoadsAndRunsEveryFormat) {
  RandomCheckpoint checkpoint({.n_vocab = kEnglish});
  checkpoint.quantize(DType::kF16);
  std::vector<float> expected;
  for (const char* format : {"ggml", "ctranslate2", "safetensors"}) {
    const std::string folder = testing::make_test_folder(std::string("model_") + format);
    if (format == std::string("ggml")) {
      checkpoint.write_ggml(folder);
    } else {
      checkpoint.write_vocabulary(folder);
      format == std::string("ctranslate2") ? checkpoint.write_ctranslate2(folder)
                                           : checkpoint.write_safetensors(folder, "model.");
    }
    auto loaded = load(folder);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    Model& model = **loaded;
    std::filesystem::remove_all(folder);  // What is loaded needs its files no longer by name
    EXPECT_EQ(model.config().n_vocab, kEnglish) << format;
    EXPECT_FALSE(model.tokens().multilingual) << format;
    EXPECT_EQ(model.tokenizer().token_bytes(300), "w300") << format;
    EXPECT_EQ(model.tokenizer().special_id("<|0.02|>"), model.tokens().timestamp_begin + 1)
        << format;
    const auto logits = logits_of(model);
    if (expected.empty()) expected = logits;
    EXPECT_EQ(logits, expected) << format;
  }
}

TEST(Model, LargeV3HasMoreMelBandsAndLanguages) {
  const RandomCheckpoint checkpoint(
      {.n_mels = 128, .n_vocab = 51866, .encoder_layers = 3, .decoder_layers = 1});
  const auto model = load(checkpoint.write_ggml(testing::make_test_folder("model_v3")));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ((*model)->config().n_mels, 128);
  EXPECT_EQ((*model)->tokens().language_count, 100);
  EXPECT_EQ(logits_of(**model).size(), 3U * 51866U);
}

TEST(Model, ErrorsNameTheFileAndTheWayOut) {
  const std::string folder = testing::make_test_folder("model_errors");
  EXPECT_EQ(load(folder + "/absent").status().code(), StatusCode::kNotFound);
  const RandomCheckpoint odd({.n_vocab = 1000});
  const Status vocabulary = load(odd.write_ctranslate2(folder)).status();
  EXPECT_FALSE(vocabulary.ok());
  EXPECT_THAT(vocabulary.message(), HasSubstr(folder));
  EXPECT_THAT(vocabulary.message(), HasSubstr("1000"));
  const RandomCheckpoint good({.n_vocab = kEnglish});
  good.write_ctranslate2(folder);
  const Status no_tokenizer = load(folder).status();
  EXPECT_EQ(no_tokenizer.code(), StatusCode::kNotFound);
  EXPECT_THAT(no_tokenizer.message(), HasSubstr("tokenizer.json"));
}

TEST(Model, TokenizerOfAnotherCheckpointIsRefused) {
  const std::string folder = testing::make_test_folder("model_tokenizer");
  RandomCheckpoint({.n_vocab = kMultilingual}).write_ctranslate2(folder);
  RandomCheckpoint({.n_vocab = kEnglish}).write_vocabulary(folder);
  const Status smaller = load(folder).status();
  EXPECT_EQ(smaller.code(), StatusCode::kCorrupt);
  EXPECT_THAT(smaller.message(), HasSubstr("has <|endoftext|> at 50256"));
  EXPECT_THAT(smaller.message(), HasSubstr("they belong to different models"));
  RandomCheckpoint({.n_vocab = kEnglish}).write_ctranslate2(folder);
  RandomCheckpoint({.n_vocab = kMultilingual}).write_vocabulary(folder);
  const Status larger = load(folder).status();
  EXPECT_EQ(larger.code(), StatusCode::kCorrupt);
  EXPECT_THAT(larger.message(), HasSubstr("has 51865 tokens, the weights only 51864"));
}

}  // namespace
}  // namespace sotto::whisper
