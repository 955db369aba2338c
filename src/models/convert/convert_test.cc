#include "sotto/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "models/formats/model_file.h"
#include "tokenizer/load/load.h"
#include "whisper/testing/loaded_checkpoint.h"
#include "whisper/testing/random_checkpoint.h"

namespace sotto::convert {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using whisper::testing::make_test_folder;
using whisper::testing::RandomCheckpoint;
using whisper::testing::RandomGeometry;

constexpr int kEnglish = 51864;
constexpr int kMultilingual = 51865;

/// One layer each: what differs between formats is the same in all layers.
RandomGeometry small(int n_vocab = kEnglish) {
  return {.n_vocab = n_vocab, .encoder_layers = 1, .decoder_layers = 1};
}

std::string write_with_vocabulary(const RandomCheckpoint& checkpoint, const std::string& name) {
  const std::string folder = make_test_folder(name);
  checkpoint.write_vocabulary(folder);
  return checkpoint.write_ctranslate2(folder);
}

/// A path below the test's folder at which nothing is.
std::string fresh_path(const std::string& name) {
  return make_test_folder("convert_" + name) + "/out";
}

ConvertResult convert(const std::string& input, const std::string& output,
                      const std::string& format, const std::string& type) {
  const auto result = convert_model(input, output, {.format = format, .type = type});
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? *result : ConvertResult{};
}

std::vector<float> logits_of(const std::string& path) {
  const auto loaded = whisper::testing::load_checkpoint(path);
  const auto mel = whisper::testing::random_mel(loaded->config, 20, 1);
  const auto window = whisper::testing::encode(*loaded, mel, 20);
  return whisper::testing::forward(*loaded, *window, {5, 9, 2, 40});
}

std::string text_of(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

nlohmann::json json_of(const std::string& path) {
  return nlohmann::json::parse(text_of(path));
}

std::vector<std::byte> bytes_of(const TensorView& view) {
  return {view.bytes.begin(), view.bytes.end()};
}

TEST(Convert, EveryFormatToEveryOther) {
  RandomCheckpoint checkpoint(small());
  checkpoint.quantize(DType::kF16);
  const std::string source = write_with_vocabulary(checkpoint, "convert_source");
  const std::vector<float> expected = logits_of(source);
  for (const char* first : {"ggml", "ct2", "safetensors"}) {
    const std::string middle = fresh_path(std::string("to_") + first);
    convert(source, middle, first, "f16");
    for (const char* second : {"ggml", "ctranslate2", "hf"}) {
      const std::string last = fresh_path(std::string("then_") + second);
      convert(middle, last, second, "f32");
      EXPECT_EQ(logits_of(last), expected) << first << " to " << second;
    }
  }
}

TEST(Convert, ThereAndBackGivesTheSameWeightsFile) {
  RandomCheckpoint checkpoint(small(kMultilingual));
  checkpoint.quantize(DType::kF16);
  const std::string direct = fresh_path("direct"), ggml = fresh_path("there"),
                    back = fresh_path("back");
  const std::string source = write_with_vocabulary(checkpoint, "convert_source");
  convert(source, direct, "ct2", "f16");
  convert(source, ggml, "ggml", "f16");
  convert(ggml, back, "ct2", "f16");
  EXPECT_TRUE(text_of(direct + "/model.bin") == text_of(back + "/model.bin"));
}

TEST(Convert, QuantisedRowsKeepTheirValues) {
  RandomCheckpoint int8(small());
  int8.quantize(DType::kI8);
  const std::string from_int8 = fresh_path("int8");
  convert(write_with_vocabulary(int8.unpacked(), "convert_source"), from_int8, "ct2", "int8");
  const models::ModelFile file = models::open_model_file(from_int8).value();
  const TensorView weight = file.tensor("encoder/layer_0/ffn/linear_0/weight").value();
  EXPECT_EQ(weight.dtype, DType::kI8);
  EXPECT_EQ(weight.row_scales.size(), 4U * 128U);
  const models::ModelFile original =
      models::open_model_file(write_with_vocabulary(int8, "convert_int8")).value();
  EXPECT_EQ(bytes_of(weight),
            bytes_of(original.tensor("encoder/layer_0/ffn/linear_0/weight").value()));
}

class ConvertBlocks : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Types, ConvertBlocks,
                         ::testing::Values("q4_0", "q4_1", "q5_0", "q5_1", "q8_0"));

TEST_P(ConvertBlocks, AreCopiedAndStayClose) {
  const std::string type = GetParam();
  const std::string source = write_with_vocabulary(RandomCheckpoint(small()), "convert_source");
  const std::string once = fresh_path("once"), twice = fresh_path("twice");
  convert(source, once, "ggml", type);
  convert(once, twice, "ggml", type);
  EXPECT_TRUE(text_of(once) == text_of(twice));
  const double similarity = whisper::testing::cosine(logits_of(source), logits_of(once));
  EXPECT_GT(similarity, type == "q8_0" ? 0.9995 : type.starts_with("q5") ? 0.99 : 0.95);
  EXPECT_LT(similarity, 1.0 - 1e-9);  // it is quantised
}

TEST(Convert, GgmlIsWhatWhisperCppLoads) {
  const std::string path = fresh_path("ggml");
  convert(write_with_vocabulary(RandomCheckpoint(small()), "convert_source"), path, "ggml", "q5_0");
  const models::ModelFile file = models::open_model_file(path).value();
  EXPECT_EQ(std::get<int64_t>(file.metadata.at("ftype")), 2008);
  EXPECT_EQ(std::get<int64_t>(file.metadata.at("n_vocab")), kEnglish);
  EXPECT_EQ(file.vocabulary.size(), 50256U);
  const auto check = [&](const char* name, DType dtype, std::vector<int64_t> dims) {
    const auto view = file.tensor(name);
    ASSERT_TRUE(view.ok()) << view.status().message();
    EXPECT_EQ(view->dtype, dtype) << name;
    EXPECT_EQ(view->dims, dims) << name;
  };
  check("encoder.conv1.weight", DType::kF16, {64, 80, 3});
  check("encoder.conv1.bias", DType::kF32, {64, 1});
  check("encoder.positional_embedding", DType::kF32, {20, 64});
  check("decoder.token_embedding.weight", DType::kQ5_0, {kEnglish, 64});
  check("decoder.blocks.0.cross_attn.key.weight", DType::kQ5_0, {64, 64});
  check("decoder.blocks.0.mlp.0.bias", DType::kF32, {128});
  EXPECT_FALSE(file.tensors.contains("decoder.blocks.0.attn.key.bias"));
}

TEST(Convert, FolderHasWhatFasterWhisperReads) {
  const std::string source = fresh_path("ggml"), folder = fresh_path("ct2");
  const std::string original = write_with_vocabulary(
      RandomCheckpoint({.n_mels = 128, .n_vocab = 51866, .encoder_layers = 1, .decoder_layers = 1}),
      "convert_source");
  convert(original, source, "ggml", "f16");
  const ConvertResult result = convert(source, folder, "ct2", "f16");
  EXPECT_THAT(result.files, ElementsAre(folder + "/model.bin", folder + "/config.json",
                                        folder + "/preprocessor_config.json",
                                        folder + "/tokenizer.json", folder + "/vocabulary.json"));
  EXPECT_EQ(json_of(folder + "/preprocessor_config.json").at("feature_size"), 128);
  const nlohmann::json config = json_of(folder + "/config.json");
  EXPECT_EQ(config.at("lang_ids").size(), 100U);
  EXPECT_EQ(config.at("lang_ids")[0], 50259);
  EXPECT_FALSE(config.at("suppress_ids").empty());
  EXPECT_TRUE(config.contains("alignment_heads"));
  const nlohmann::json vocabulary = json_of(folder + "/vocabulary.json");
  ASSERT_EQ(vocabulary.size(), 51866U);
  EXPECT_EQ(vocabulary[50258], "<|startoftranscript|>");

  const auto before = tokenizer::load_for_model(models::open_model_file(original).value());
  const auto after = tokenizer::load_for_model(models::open_model_file(folder).value());
  ASSERT_TRUE(before.ok() && after.ok()) << after.status().message();
  for (int id = 0; id < 51866; ++id)
    ASSERT_EQ((*before)->token_bytes(id), (*after)->token_bytes(id)) << id;
}

TEST(Convert, RefusesToOverwrite) {
  const std::string source = write_with_vocabulary(RandomCheckpoint(small()), "convert_source");
  const std::string file = make_test_folder("convert_existing") + "/model.bin";
  whisper::testing::write_file(file, "precious");
  ConvertOptions options = {.format = "ggml"};
  const Status status = convert_model(source, file, options).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr(file + " exists already"));
  EXPECT_EQ(text_of(file), "precious");

  options.format = "ct2";
  const std::string folder = fs::path(file).parent_path().string();
  EXPECT_THAT(convert_model(source, folder, options).status().message(), HasSubstr("model.bin"));
  EXPECT_THAT(convert_model(source, file, options).status().message(), HasSubstr("is a file"));
  options.overwrite = true;
  EXPECT_TRUE(convert_model(source, folder, options).ok());
  EXPECT_EQ(logits_of(folder).size(), 4U * kEnglish);

  options.format = "ggml";
  EXPECT_THAT(convert_model(source, folder, options).status().message(), HasSubstr("is a folder"));
}

TEST(Convert, AModelCanReplaceItself) {
  RandomCheckpoint checkpoint(small());
  checkpoint.quantize(DType::kF16);
  const std::string folder = write_with_vocabulary(checkpoint, "convert_itself");
  const std::vector<float> expected = logits_of(folder);
  const ConvertOptions options = {.format = "ct2", .type = "f32", .overwrite = true};
  ASSERT_TRUE(convert_model(folder, folder, options).ok());
  EXPECT_EQ(logits_of(folder), expected);
}

TEST(Convert, LeavesNothingBehindWhenStopped) {
  const std::string source = write_with_vocabulary(RandomCheckpoint(small()), "convert_source");
  for (const char* format : {"ggml", "ct2", "safetensors"}) {
    const std::string folder = make_test_folder("convert_stopped");
    int rows = 0;
    const ConvertOptions options = {.format = format,
                                    .should_stop = [&rows] { return ++rows > 1000; }};
    EXPECT_EQ(convert_model(source, folder + "/out", options).status().code(),
              StatusCode::kCancelled);
    EXPECT_THAT(std::vector<fs::path>(fs::directory_iterator(folder), {}), IsEmpty()) << format;
  }
}

TEST(Convert, ErrorsSayWhatIsWrong) {
  const std::string source = write_with_vocabulary(RandomCheckpoint(small()), "convert_source");
  const auto message = [](const std::string& input, const ConvertOptions& options) {
    return convert_model(input, fresh_path("error"), options).status().message();
  };
  EXPECT_THAT(message(source, {.format = "onnx"}), HasSubstr("ggml, ctranslate2"));
  EXPECT_THAT(message(source, {.format = "ggml", .type = "int8"}), HasSubstr("q8_0"));
  EXPECT_THAT(message(source, {.format = "hf", .type = "q8_0"}), HasSubstr("bf16"));
  EXPECT_THAT(message(source + "/absent", {}), HasSubstr("absent"));

  RandomCheckpoint huge(small());
  huge.tensors().at("decoder.blocks.0.mlp.0.weight").values[7] = 1e6f;
  const std::string message_of_huge = message(write_with_vocabulary(huge, "convert_huge"), {});
  EXPECT_THAT(message_of_huge, HasSubstr("decoder.blocks.0.mlp.0.weight"));
  EXPECT_THAT(message_of_huge, HasSubstr("f16"));
}

}  // namespace
}  // namespace sotto::convert
