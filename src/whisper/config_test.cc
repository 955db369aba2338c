#include "whisper/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "models/formats/model_file.h"
#include "whisper/testing/random_checkpoint.h"
#include "whisper/weights_naming.h"

namespace sotto::whisper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::RandomCheckpoint;
using testing::RandomGeometry;

Result<Config> read(const models::ModelFile& file) {
  SOTTO_ASSIGN_OR_RETURN(const Naming naming, detect_naming(file));
  return read_config(file, naming);
}

Result<Config> read(const std::string& path) {
  SOTTO_ASSIGN_OR_RETURN(const models::ModelFile file, models::open_model_file(path));
  return read(file);
}

/// A folder with weights in Transformers' format and the given config files ("" for none).
std::string folder_with(const RandomGeometry& geometry, const std::string& config,
                        const std::string& generation = "") {
  const std::string folder = testing::make_test_folder("config_test");
  RandomCheckpoint(geometry).write_safetensors(folder, "model.");
  std::filesystem::remove(folder + "/config.json");
  if (!config.empty()) testing::write_file(folder + "/config.json", config);
  if (!generation.empty()) testing::write_file(folder + "/generation_config.json", generation);
  return folder;
}

TEST(Config, EveryFormatShowsTheGeometry) {
  const RandomGeometry geometry = {
      .n_mels = 128, .n_head = 4, .encoder_layers = 3, .decoder_layers = 1};
  const RandomCheckpoint checkpoint(geometry);
  const std::string folder = testing::make_test_folder("config_geometry");
  for (const char* name : {"/ct2", "/ggml", "/hf", "/hf_prefix"})
    std::filesystem::create_directory(folder + name);
  for (const std::string& path :
       {checkpoint.write_ctranslate2(folder + "/ct2"), checkpoint.write_ggml(folder + "/ggml"),
        checkpoint.write_safetensors(folder + "/hf", ""),
        checkpoint.write_safetensors(folder + "/hf_prefix", "model.")}) {
    const auto config = read(path);
    ASSERT_TRUE(config.ok()) << config.status().message();
    EXPECT_EQ(config->n_mels, 128) << path;
    EXPECT_EQ(config->n_audio_ctx, geometry.n_audio_ctx) << path;
    EXPECT_EQ(config->n_text_ctx, geometry.n_text_ctx) << path;
    EXPECT_EQ(config->n_vocab, geometry.n_vocab) << path;
    EXPECT_EQ(config->d_model, geometry.d_model) << path;
    EXPECT_EQ(config->n_head, 4) << path;
    EXPECT_EQ(config->n_text_head, 4) << path;
    EXPECT_EQ(config->encoder_layers, 3) << path;
    EXPECT_EQ(config->decoder_layers, 1) << path;
    EXPECT_THAT(config->alignment_heads,
                ElementsAre(Pair(0, 0), Pair(0, 1), Pair(0, 2), Pair(0, 3)))
        << path;
  }
}

TEST(Config, LayersAreCountedByNumberNotByText) {
  const auto config = read(folder_with({.encoder_layers = 12, .decoder_layers = 11}, ""));
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(config->encoder_layers, 12);
  EXPECT_EQ(config->decoder_layers, 11);
}

TEST(Config, HeadsHave64ColumnsUnlessTheConfigSaysOtherwise) {
  EXPECT_EQ(read(folder_with({.d_model = 128}, "")).value().n_head, 2);
  const Config config =
      read(folder_with({.d_model = 128},
                       R"({"encoder_attention_heads": 4, "decoder_attention_heads": 8})"))
          .value();
  EXPECT_EQ(config.n_head, 4);
  EXPECT_EQ(config.n_text_head, 8);
  EXPECT_THAT(read(folder_with({.d_model = 96}, "")).status().message(),
              HasSubstr("nothing says how many attention heads the encoder has"));
}

TEST(Config, HeadsMustDivideTheWidth) {
  for (const char* heads : {"3", "0", "-2", "128", "4611686018427387904"}) {
    const Status status =
        read(folder_with({}, std::string(R"({"decoder_attention_heads": )") + heads + "}"))
            .status();
    EXPECT_EQ(status.code(), StatusCode::kCorrupt);
    EXPECT_THAT(status.message(),
                HasSubstr(std::string(heads) +
                          " attention heads of the decoder do not divide its width of 64"));
  }
}

TEST(Config, ConfigOfAnotherModelIsRefused) {
  const Status status = read(folder_with({}, R"({"d_model": 512})")).status();
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
  EXPECT_THAT(status.message(), HasSubstr("config.json says d_model = 512"));
  EXPECT_THAT(status.message(), HasSubstr("show 64; they belong to different models"));
  EXPECT_THAT(read(folder_with({}, R"({"encoder_layers": 3})")).status().message(),
              HasSubstr("encoder_layers = 3"));
  EXPECT_THAT(read(folder_with({}, R"({"vocab_size": 51865})")).status().message(),
              HasSubstr("vocab_size = 51865"));
}

TEST(Config, BrokenJsonNamesItsFile) {
  for (const char* text : {"{", "[1]", "\xff\xfe", "{\"a\": 1} trailing"}) {
    const Status status = read(folder_with({}, text)).status();
    EXPECT_EQ(status.code(), StatusCode::kCorrupt);
    EXPECT_THAT(status.message(), HasSubstr("config.json is not a JSON object"));
  }
}

TEST(Config, ValuesOfWrongTypesAreNotUsed) {
  const auto config = read(folder_with({}, R"({"d_model": "64", "encoder_attention_heads": null,
      "suppress_tokens": null, "alignment_heads": 7})"));
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(config->n_head, 1);
  EXPECT_THAT(config->suppress_tokens, IsEmpty());
}

TEST(Config, TokenListsComeFromTheGenerationConfigFirst) {
  const Config config =
      read(folder_with({}, R"({"suppress_tokens": [1, 2], "begin_suppress_tokens": [3]})",
                       R"({"suppress_tokens": [4, -1, 96, 95, "x", 1e30]})"))
          .value();
  EXPECT_THAT(config.suppress_tokens, ElementsAre(4, 95));  // Others are not in a vocabulary of 96
  EXPECT_THAT(config.suppress_at_begin, ElementsAre(3));
}

TEST(Config, CTranslate2HasItsOwnNamesForTokenLists) {
  const std::string folder = testing::make_test_folder("config_ct2");
  RandomCheckpoint({}).write_ctranslate2(folder);
  testing::write_file(
      folder + "/config.json",
      R"({"suppress_ids": [7, 8], "suppress_ids_begin": [9], "alignment_heads": [[1, 1], [0, 1]]})");
  const Config config = read(folder).value();
  EXPECT_THAT(config.suppress_tokens, ElementsAre(7, 8));
  EXPECT_THAT(config.suppress_at_begin, ElementsAre(9));
  EXPECT_THAT(config.alignment_heads, ElementsAre(Pair(1, 1), Pair(0, 1)));
}

TEST(Config, FilesBesideAGgmlFileAreNotItsConfig) {
  const std::string folder = testing::make_test_folder("config_ggml");
  const std::string path = RandomCheckpoint({}).write_ggml(folder);
  testing::write_file(folder + "/config.json", R"({"d_model": 512, "suppress_tokens": [1]})");
  const auto config = read(path);
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_THAT(config->suppress_tokens, IsEmpty());
}

TEST(Config, AlignmentHeadsThatTheDecoderLacksFallBackToTheUpperHalf) {
  for (const char* heads :
       {"[[0, 0], [2, 0]]", "[[0, 2]]", "[[-1, 0]]", "[[0]]", "[0, 1]", R"([["a", 0]])"}) {
    const Config config =
        read(folder_with({}, R"({"decoder_attention_heads": 2, "encoder_attention_heads": 2})",
                         std::string(R"({"alignment_heads": )") + heads + "}"))
            .value();
    EXPECT_THAT(config.alignment_heads, ElementsAre(Pair(1, 0), Pair(1, 1))) << heads;
  }
}

TEST(Config, OpenAiCheckpointsAreKnownByTheirGeometry) {
  RandomGeometry tiny = {.n_vocab = 51865,
                         .d_model = 6,
                         .n_head = 6,
                         .encoder_layers = 4,
                         .decoder_layers = 4,
                         .inner = 4};
  const auto heads = [](const RandomGeometry& geometry) {
    return read(RandomCheckpoint(geometry).write_ggml(testing::make_test_folder("config_known")))
        .value()
        .alignment_heads;
  };
  EXPECT_THAT(heads(tiny),
              ElementsAre(Pair(2, 2), Pair(3, 0), Pair(3, 2), Pair(3, 3), Pair(3, 4), Pair(3, 5)));
  tiny.n_vocab = 51864;
  EXPECT_THAT(heads(tiny), ElementsAre(Pair(1, 0), Pair(2, 0), Pair(2, 5), Pair(3, 0), Pair(3, 1),
                                       Pair(3, 2), Pair(3, 3), Pair(3, 4)));
  const RandomGeometry turbo = {.n_mels = 128,
                                .n_vocab = 51866,
                                .d_model = 20,
                                .n_head = 20,
                                .encoder_layers = 32,
                                .decoder_layers = 4,
                                .inner = 4};
  EXPECT_THAT(heads(turbo), ElementsAre(Pair(2, 4), Pair(2, 11), Pair(3, 3), Pair(3, 6),
                                        Pair(3, 11), Pair(3, 14)));
  RandomGeometry distil = turbo;
  distil.decoder_layers = 2;
  const auto upper = heads(distil);
  ASSERT_EQ(upper.size(), 20U);
  EXPECT_THAT(upper.front(), Pair(1, 0));
  EXPECT_THAT(upper.back(), Pair(1, 19));
}

/// Reads the config of a good ggml file after `change`.
Status after(const std::function<void(models::ModelFile&)>& change) {
  const std::string path =
      RandomCheckpoint({}).write_ggml(testing::make_test_folder("config_absurd"));
  models::ModelFile file = models::open_model_file(path).value();
  change(file);
  return read(file).status();
}

TEST(Config, AbsurdSizesAreRefused) {
  const auto dims = [](const char* tensor, std::vector<int64_t> value) {
    return [=](models::ModelFile& file) { file.tensors.find(tensor)->second.dims = value; };
  };
  EXPECT_THAT(after(dims("decoder.token_embedding.weight", {96})).message(),
              HasSubstr("'decoder.token_embedding.weight' has shape [96], expected 2 dimensions"));
  EXPECT_THAT(after(dims("decoder.token_embedding.weight", {1 << 30, 64})).message(),
              HasSubstr("the vocabulary is 1073741824, expected 1 to 1048576"));
  EXPECT_THAT(after(dims("decoder.token_embedding.weight", {96, 0})).message(),
              HasSubstr("the width of the model is 0, expected 1 to 16384"));
  EXPECT_THAT(after(dims("encoder.conv1.weight", {64, 1000, 3})).message(),
              HasSubstr("the number of mel bands is 1000, expected 1 to 201"));
  EXPECT_THAT(after(dims("encoder.positional_embedding", {20})).message(),
              HasSubstr("expected 2 dimensions"));
  EXPECT_THAT(after(dims("decoder.positional_embedding", {0, 64})).message(),
              HasSubstr("the number of text positions is 0"));
}

TEST(Config, HeaderThatContradictsTheTensorsIsRefused) {
  EXPECT_THAT(
      after([](models::ModelFile& file) { file.metadata["n_vocab"] = int64_t{97}; }).message(),
      HasSubstr("its header says n_vocab = 97, its tensors show 96"));
  EXPECT_THAT(
      after([](models::ModelFile& file) { file.metadata["n_text_state"] = int64_t{32}; }).message(),
      HasSubstr("n_text_state = 32"));
  EXPECT_THAT(
      after([](models::ModelFile& file) { file.metadata["n_audio_head"] = int64_t{5}; }).message(),
      HasSubstr("5 attention heads of the encoder do not divide"));
  EXPECT_THAT(after([](models::ModelFile& file) {
                file.tensors["encoder.blocks.300.mlp_ln.bias"] = {};
              }).message(),
              HasSubstr("the number of encoder layers is 301, expected 1 to 256"));
}

}  // namespace
}  // namespace sotto::whisper
