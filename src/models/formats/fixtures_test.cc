// The readers on the files that tools/make_model_fixtures.py wrote, an independent writer of the
// same formats.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "models/formats/model_file.h"
#include "models/formats/testing/index_problem.h"

namespace sotto::models::testing {
namespace {

struct Format {
  const char* name;
  Reader reader;
};
constexpr Format kFormats[] = {{"ctranslate2", read_ctranslate2},
                               {"ggml", read_ggml},
                               {"gguf", read_gguf},
                               {"safetensors", read_safetensors}};

std::string fixture(const std::string& name) {
  return std::string(SOTTO_CORPUS) + "/" + name;
}

TEST(Fixtures, GoodFilesAreReadAndBadOnesRefused) {
  for (const Format& format : kFormats) {
    int good = 0, bad = 0;
    for (const auto& entry : std::filesystem::directory_iterator(fixture(format.name))) {
      const Result<MappedFile> file = MappedFile::open(entry.path().string());
      ASSERT_TRUE(file.ok()) << file.status().message();
      ModelFile model;
      const Status status = format.reader(file->bytes(), model);
      const bool is_bad = entry.path().filename().string().starts_with("bad_");
      EXPECT_NE(status.ok(), is_bad) << entry.path() << ": " << status.message();
      if (status.ok()) {
        EXPECT_EQ(index_problem(model, file->bytes()), "") << entry.path();
      }
      (is_bad ? bad : good) += 1;
    }
    EXPECT_GE(good, 1) << format.name;
    EXPECT_GE(bad, 1) << format.name;
  }
}

TEST(Fixtures, ShapesAndTypesAreThoseThatTheScriptWrote) {
  const auto check = [](const std::string& file, const char* tensor, DType dtype,
                        const std::vector<int64_t>& dims) {
    const Result<ModelFile> model = open_model_file(fixture(file));
    ASSERT_TRUE(model.ok()) << model.status().message();
    const Result<TensorView> view = model->tensor(tensor, dims);
    ASSERT_TRUE(view.ok()) << view.status().message();
    EXPECT_EQ(view->dtype, dtype);
    // Every tensor's data counts from 0.
    ASSERT_GE(view->bytes.size(), 2U);
    EXPECT_EQ(view->bytes[0], std::byte{0});
    EXPECT_EQ(view->bytes[1], std::byte{1});
  };
  check("ctranslate2/f16", "decoder/projection/weight", DType::kF16, {4, 2});
  check("ctranslate2/int8", "p/weight", DType::kI8, {3, 4});
  check("ggml/all_types", "t.q5_1", DType::kQ5_1, {2, 32});
  check("gguf/v3", "a", DType::kF32, {2, 3});
  check("gguf/aligned_64", "b", DType::kQ4K, {2, 256});
  check("safetensors/two", "a", DType::kF32, {2});
}

}  // namespace
}  // namespace sotto::models::testing
