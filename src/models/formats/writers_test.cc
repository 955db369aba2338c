// What the writers write, the readers read; and a failed write leaves the old file.
#include "models/formats/writers.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "models/formats/model_file.h"

namespace sotto::models {
namespace {

using ::testing::HasSubstr;

std::vector<std::byte> ramp(size_t n) {
  std::vector<std::byte> out(n);
  for (size_t i = 0; i < n; ++i)
    out[i] = static_cast<std::byte>(i * 7);
  return out;
}

OutputTensor ramp_tensor(std::string name, DType dtype, std::vector<int64_t> dims) {
  int64_t elements = 1;
  for (const int64_t dim : dims)
    elements *= dim;
  return output_tensor(std::move(name), dtype, std::move(dims),
                       ramp(static_cast<size_t>(dtype_bytes(dtype, elements))));
}

GgmlContents ggml_contents() {
  GgmlContents out;
  for (const char* name :
       {"n_vocab", "n_audio_ctx", "n_audio_state", "n_audio_head", "n_audio_layer", "n_text_ctx",
        "n_text_state", "n_text_head", "n_text_layer"}) {
    out.header[name] = 1;
  }
  out.header["n_mels"] = 2;
  out.header["ftype"] = 2008;
  out.mel_filter_bins = 3;
  out.mel_filters = {0, 1, 2, 3, 4, 5};
  out.vocabulary = {"a", "", std::string("\0\xff", 2)};
  out.tensors.push_back(ramp_tensor("w", DType::kQ5_0, {3, 64}));
  out.tensors.push_back(ramp_tensor("conv", DType::kF16, {2, 4, 3}));
  for (int i = 2; i < 50; ++i)
    out.tensors.push_back(ramp_tensor("f" + std::to_string(i), DType::kF32, {3}));
  return out;
}

class Writers : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "writers_" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const char* name = "model") const { return folder_ + "/" + name; }
  [[nodiscard]] size_t files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  void expect_tensors(const std::vector<OutputTensor>& tensors) const {
    const Result<ModelFile> model = open_model_file(path());
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->tensors.size(), tensors.size());
    for (const OutputTensor& tensor : tensors) {
      const Result<TensorView> view = model->tensor(tensor.name, tensor.dims);
      ASSERT_TRUE(view.ok()) << view.status().message();
      EXPECT_EQ(view->dtype, tensor.dtype);
      EXPECT_EQ(std::vector<std::byte>(view->bytes.begin(), view->bytes.end()),
                ramp(view->bytes.size()));
    }
  }

  std::string folder_;
};

TEST_F(Writers, SafetensorsComeBack) {
  const std::vector<OutputTensor> tensors = {
      ramp_tensor("b", DType::kF16, {2, 3}), ramp_tensor("a", DType::kF32, {5}),
      ramp_tensor("s", DType::kI64, {}), ramp_tensor("empty", DType::kF32, {0, 4}),
      ramp_tensor("conv", DType::kBf16, {2, 3, 4})};
  ASSERT_EQ(write_safetensors(path(), tensors, {{"format", "pt"}}).message(), "");
  expect_tensors(tensors);
  const Result<ModelFile> model = open_model_file(path());
  EXPECT_EQ(std::get<std::string>(model->metadata.at("format")), "pt");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(model->tensor("b")->bytes.data()) % 8, 0U);
  EXPECT_EQ(files(), 1U);
}

TEST_F(Writers, CTranslate2ComesBackWithScalesAndAliases) {
  CTranslate2Contents contents;
  contents.tensors = {ramp_tensor("w/weight", DType::kI8, {3, 4}),
                      ramp_tensor("w/weight_scale", DType::kF32, {3}),
                      ramp_tensor("encoder/num_heads", DType::kI16, {})};
  ASSERT_EQ(write_ctranslate2(path(), contents).message(), "");
  expect_tensors(contents.tensors);
  contents.aliases = {{"p/weight", "w/weight"}};
  ASSERT_EQ(write_ctranslate2(path(), contents).message(), "");
  const Result<ModelFile> model = open_model_file(path());
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->tensor("p/weight")->row_scales.size(), 12U);
  EXPECT_EQ(std::get<std::string>(model->metadata.at("spec")), "WhisperSpec");
}

TEST_F(Writers, GgmlComesBack) {
  const GgmlContents contents = ggml_contents();
  ASSERT_EQ(write_ggml(path(), contents).message(), "");
  expect_tensors(contents.tensors);
  const Result<ModelFile> model = open_model_file(path());
  EXPECT_EQ(model->vocabulary, contents.vocabulary);
  EXPECT_EQ(model->mel_filters, contents.mel_filters);
  EXPECT_EQ(std::get<int64_t>(model->metadata.at("n_mels")), 2);
  EXPECT_EQ(std::get<int64_t>(model->metadata.at("ftype")), 2008);
}

TEST_F(Writers, WhatAFormatCannotHoldIsAnErrorThatNamesTheTensor) {
  const auto expect_error = [](const Status& status, const char* text) {
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(text));
  };
  expect_error(write_safetensors(path(), {ramp_tensor("w", DType::kQ8_0, {2, 32})}, {}),
               "\"w\": safetensors has no type q8_0");
  CTranslate2Contents ct2;
  ct2.tensors = {ramp_tensor("w", DType::kQ8_0, {2, 32})};
  expect_error(write_ctranslate2(path(), ct2), "\"w\": CTranslate2 has no type q8_0");
  ct2.tensors = {{"w", DType::kI8, {1LL << 33, 2}, nullptr}};
  expect_error(write_ctranslate2(path(), ct2), "is larger than 4 GiB");
  expect_error(write_safetensors(path(), {ramp_tensor("", DType::kF32, {2})}, {}),
               "a tensor's name");
  GgmlContents ggml = ggml_contents();
  ggml.tensors[0] = ramp_tensor("w", DType::kBool, {2});
  expect_error(write_ggml(path(), ggml), "\"w\": ggml has no type bool");
  ggml.tensors[0] = {"w", DType::kQ4_0, {2, 48}, nullptr};
  expect_error(write_ggml(path(), ggml), "rows must be whole blocks of 32");
  ggml = ggml_contents();
  ggml.header.erase("n_text_ctx");
  expect_error(write_ggml(path(), ggml), "lacks n_text_ctx");
  ggml = ggml_contents();
  ggml.mel_filters.pop_back();
  expect_error(write_ggml(path(), ggml), "mel filters");
  EXPECT_EQ(files(), 0U);
}

TEST_F(Writers, AFailureLeavesTheOldFileAndNothingElse) {
  const std::vector<OutputTensor> good = {ramp_tensor("t", DType::kF32, {4})};
  ASSERT_TRUE(write_safetensors(path(), good, {}).ok());
  std::vector<OutputTensor> bad = {ramp_tensor("t", DType::kF32, {4}),
                                   ramp_tensor("broken", DType::kF32, {2, 2})};
  bad[1].write_row = [](int64_t row, std::span<std::byte>) {
    return row == 1 ? corrupt("no value") : Status();
  };
  const Status status = write_safetensors(path(), bad, {});
  EXPECT_EQ(status.message(), "tensor \"broken\": no value");
  EXPECT_EQ(files(), 1U);
  expect_tensors(good);
}

TEST_F(Writers, AFolderThatIsNotThereIsNamed) {
  const Status status =
      write_safetensors(folder_ + "/none/model", {ramp_tensor("t", DType::kF32, {4})}, {});
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr(folder_ + "/none/model"));
}

TEST_F(Writers, AFullDiskIsAnErrorAndLeavesNothing) {
  // A link instead of the partial file sends the bytes to a device that is always full.
  std::filesystem::create_symlink("/dev/full", path("model.partial"));
  const Status status = write_safetensors(path(), {ramp_tensor("t", DType::kF32, {4})}, {});
  EXPECT_EQ(status.code(), StatusCode::kNoSpace);
  EXPECT_THAT(status.message(), HasSubstr(path()));
  EXPECT_EQ(files(), 0U);
}

}  // namespace
}  // namespace sotto::models
