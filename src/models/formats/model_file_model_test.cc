// The readers on real weights (label `model`): needs SOTTO_TEST_MODELS.
#include <gmock/gmock.h>

#include <cstdlib>
#include <string>

#include "models/formats/model_file.h"

namespace sotto::models {
namespace {

std::string model_folder(const char* name) {
  const char* root = std::getenv("SOTTO_TEST_MODELS");
  return root == nullptr ? std::string() : std::string(root) + "/" + name;
}

TEST(RealModels, TinyEnIsACTranslate2WhisperInHalfPrecision) {
  const std::string folder = model_folder("tiny.en");
  ASSERT_FALSE(folder.empty()) << "set SOTTO_TEST_MODELS (scripts/test does)";
  const Result<ModelFile> model = open_model_file(folder);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->format, FileFormat::kCTranslate2);
  EXPECT_EQ(std::get<std::string>(model->metadata.at("spec")), "WhisperSpec");
  EXPECT_EQ(std::get<int64_t>(model->metadata.at("encoder/num_heads")), 6);
  EXPECT_EQ(model->tensors.size(), 148U + 1U);

  const Result<TensorView> embeddings = model->tensor("decoder/embeddings/weight", {51864, 384});
  ASSERT_TRUE(embeddings.ok()) << embeddings.status().message();
  EXPECT_EQ(embeddings->dtype, DType::kF16);
  const Result<TensorView> projection = model->tensor("decoder/projection/weight");
  ASSERT_TRUE(projection.ok()) << projection.status().message();
  EXPECT_EQ(projection->bytes.data(), embeddings->bytes.data());
  EXPECT_TRUE(model->tensor("encoder/conv1/weight", {384, 80, 3}).ok());
}

TEST(RealModels, SileroIsSafetensors) {
  const std::string folder = model_folder("silero-vad");
  ASSERT_FALSE(folder.empty()) << "set SOTTO_TEST_MODELS (scripts/test does)";
  const Result<ModelFile> model = open_model_file(folder);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->format, FileFormat::kSafetensors);
  EXPECT_FALSE(model->tensors.empty());
}

}  // namespace
}  // namespace sotto::models
