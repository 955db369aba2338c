// open_model_file(): detection by content, folders, shards, and what people pass by mistake.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "models/formats/model_file.h"
#include "models/formats/tensor_index.h"
#include "models/formats/testing/model_bytes.h"

namespace sotto::models::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using std::string_literals::operator""s;

std::string text_of(const ByteWriter& bytes) {
  return {reinterpret_cast<const char*>(bytes.bytes().data()), bytes.size()};
}

std::string ctranslate2_file() {
  return text_of(ByteWriter().u32(6).ct2_string("WhisperSpec").u32(3).u32(0).u32(0));
}
std::string gguf_file() {
  return text_of(ByteWriter().raw("GGUF").u32(3).u64(0).u64(0));
}

/// One f32 tensor `name` of two elements.
std::string safetensors_file(const std::string& name) {
  const std::string header =
      R"({")" + name + R"(":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  return text_of(ByteWriter().u64(header.size()).raw(header).ramp(8));
}

class OpenModelFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = ::testing::TempDir() + "formats_" + info->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& content) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  static Status status_of(const std::string& path) { return open_model_file(path).status(); }

  std::string folder_;
};

TEST_F(OpenModelFile, TellsTheFormatByTheContentWhateverTheName) {
  const auto format_of = [&](const std::string& content) {
    const Result<ModelFile> model = open_model_file(write("weights", content));
    EXPECT_TRUE(model.ok()) << model.status().message();
    return model.ok() ? file_format_name(model->format) : "";
  };
  EXPECT_EQ(format_of(ctranslate2_file()), "ctranslate2");
  EXPECT_EQ(format_of(gguf_file()), "gguf");
  EXPECT_EQ(format_of(safetensors_file("t")), "safetensors");
}

TEST_F(OpenModelFile, ViewsStayValidWhenTheModelMoves) {
  Result<ModelFile> opened = open_model_file(write("m.safetensors", safetensors_file("t")));
  ASSERT_TRUE(opened.ok());
  const ModelFile moved = std::move(opened).value();
  const Result<TensorView> view = moved.tensor("t", {2});
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->bytes[7], std::byte{7});
}

TEST_F(OpenModelFile, MissingAndMisshapenTensorsNameTheFileAndTheShapes) {
  const Result<ModelFile> model = open_model_file(write("m.safetensors", safetensors_file("t")));
  ASSERT_TRUE(model.ok());
  const Status missing = model->tensor("encoder.x").status();
  EXPECT_EQ(missing.code(), StatusCode::kNotFound);
  EXPECT_THAT(missing.message(), AllOf(HasSubstr("m.safetensors"), HasSubstr("\"encoder.x\"")));
  const Status shape = model->tensor("t", {2, 3}).status();
  EXPECT_EQ(shape.code(), StatusCode::kCorrupt);
  EXPECT_THAT(shape.message(), AllOf(HasSubstr("[2]"), HasSubstr("[2, 3]")));
}

TEST_F(OpenModelFile, ErrorsNameTheFileAndItsFormat) {
  const std::string whole = ctranslate2_file();
  const Status status = status_of(write("model.bin", whole.substr(0, whole.size() - 2)));
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("model.bin (ctranslate2)"), HasSubstr("incomplete download")));
}

TEST_F(OpenModelFile, SaysWhatAFileIsThatIsNoModel) {
  struct Mistake {
    const char* advice;
    std::string content;
  };
  const std::string tar_header = std::string(257, 'x') + "ustar" + std::string(200, '\0');
  const std::vector<Mistake> mistakes = {
      {"the file is empty", ""},
      {"only 5 bytes", "hello"},
      {"a Git LFS pointer",
       "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 75537502\n"},
      {"a web page", "<!DOCTYPE html>\n<html><head></head></html>"},
      {"a web page", "\n  <html lang=\"en\">"},
      {"PyTorch checkpoint", "PK\x03\x04\0\0\0\0archive/data.pklFB\x01"s + std::string(64, '\0')},
      {"PyTorch checkpoint", "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.\x80\x02M\xe9\x03."},
      {"archive; unpack it", "PK\x03\x04\0\0\0\0model.bin"s + std::string(64, '\0')},
      {"archive; unpack it", "\x1f\x8b\x08\0\0\0\0\0\0\x03 and so on"s},
      {"archive; unpack it", tar_header},
      {"a recording, not a model", "RIFF\x24\0\0\0WAVEfmt \x10\0\0\0"s},
      {"a recording, not a model",
       "\0\0\0\x20"
       "ftypM4A \0\0\0\0M4A mp42isom"s},
      {"a JSON file, not weights", R"({"architectures": ["WhisperForConditionalGeneration"]})"},
      {"old llama.cpp format", "tjgg\x03\0\0\0 and then the rest"s},
      {"a program or library",
       "\x7f"
       "ELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0"s},
      {"not a model in a format that sotto reads", std::string(64, 'x')},
  };
  for (const Mistake& mistake : mistakes) {
    const Status status = status_of(write("saved.bin", mistake.content));
    EXPECT_FALSE(status.ok()) << mistake.advice;
    EXPECT_THAT(status.message(), AllOf(HasSubstr("saved.bin"), HasSubstr(mistake.advice)));
  }
}

TEST_F(OpenModelFile, MissingPathsAreNotFound) {
  EXPECT_EQ(status_of(folder_ + "/none").code(), StatusCode::kNotFound);
}

TEST_F(OpenModelFile, FindsTheWeightsInAFolder) {
  write("config.json", "{}");
  write("ggml-base.gguf", gguf_file());
  Result<ModelFile> model = open_model_file(folder_);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->path, folder_ + "/ggml-base.gguf");
  // A usual name leaves no doubt although there are other weights.
  write("model.bin", ctranslate2_file());
  model = open_model_file(folder_ + "/");
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->format, FileFormat::kCTranslate2);
}

TEST_F(OpenModelFile, FoldersWithoutOneModelSayWhatTheyHold) {
  Status status = status_of(folder_);
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("it is empty"));

  write("config.json", "{}");
  EXPECT_THAT(status_of(folder_).message(), HasSubstr("it has \"config.json\""));

  write("pytorch_model.bin", "PK\x03\x04");
  status = status_of(folder_);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("only PyTorch weights (\"pytorch_model.bin\")"));

  write("a.gguf", gguf_file());
  write("b.gguf", gguf_file());
  status = status_of(folder_);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(),
              HasSubstr("several models; name one of them: \"a.gguf\", \"b.gguf\""));
}

TEST_F(OpenModelFile, JoinsShards) {
  write("model-00001-of-00002.safetensors", safetensors_file("a"));
  write("model-00002-of-00002.safetensors", safetensors_file("b"));
  write("model.safetensors.index.json",
        R"({"metadata":{"total_size":16},"weight_map":{"a":"model-00001-of-00002.safetensors",)"
        R"("b":"model-00002-of-00002.safetensors"}})");
  const Result<ModelFile> model = open_model_file(folder_);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->format, FileFormat::kSafetensors);
  EXPECT_EQ(model->files.size(), 2U);
  EXPECT_TRUE(model->tensor("a", {2}).ok());
  EXPECT_TRUE(model->tensor("b", {2}).ok());
}

TEST_F(OpenModelFile, BrokenShardSetsAreErrors) {
  write("a.safetensors", safetensors_file("a"));
  write("other.safetensors", gguf_file());
  write("truncated.safetensors", safetensors_file("t").substr(0, 40));
  struct Broken {
    const char* problem;
    std::string map;
  };
  const std::vector<Broken> cases = {
      {"the file \"gone.safetensors\", which is not in its folder", R"({"b":"gone.safetensors"})"},
      {"\"../a.safetensors\", which is not the name of a file", R"({"a":"../a.safetensors"})"},
      {"\"/etc/passwd\", which is not the name of a file", R"({"a":"/etc/passwd"})"},
      {"\"..\", which is not the name of a file", R"({"a":".."})"},
      {"\"\", which is not the name of a file", R"({"a":""})"},
      {"the shard of tensor \"a\" is no string", R"({"a":3})"},
      {"holds tensor \"a\", which the index does not place there", R"({"b":"a.safetensors"})"},
      {"places tensor \"b\" in \"a.safetensors\", which does not hold it",
       R"({"a":"a.safetensors","b":"a.safetensors"})"},
      {"\"other.safetensors\" is no safetensors file", R"({"b":"other.safetensors"})"},
      {"shard \"truncated.safetensors\": the file ends inside the header",
       R"({"t":"truncated.safetensors"})"},
      {"two keys \"a\"", R"({"a":"a.safetensors","a":"a.safetensors"})"},
      {"it has no \"weight_map\"", "{}"},
      {"it has no \"weight_map\"", "[]"},
  };
  for (const Broken& broken : cases) {
    const Status status = status_of(write("x.index.json", R"({"weight_map":)" + broken.map + "}"));
    EXPECT_FALSE(status.ok()) << broken.problem;
    EXPECT_THAT(status.message(), AllOf(HasSubstr("x.index.json"), HasSubstr(broken.problem)));
  }
}

TEST(Printable, KeepsTextAndEscapesTheRest) {
  EXPECT_EQ(printable("encoder.0/wörter €𝄞"), "\"encoder.0/wörter €𝄞\"");
  EXPECT_EQ(printable("a\n\x1b[31m\x7f"), R"("a\x0a\x1b[31m\x7f")");
  EXPECT_EQ(printable("\xc2\x9b"
                      "1m"),
            R"("\xc2\x9b1m")");  // a C1 control
  EXPECT_EQ(printable("\xc0\xaf\xed\xa0\x80\xf5"),
            R"("\xc0\xaf\xed\xa0\x80\xf5")");         // overlong, surrogate, too big
  EXPECT_EQ(printable("\xe2\x82"), R"("\xe2\x82")");  // cut off
  const std::string cut = printable(std::string(1000, 'x'));
  EXPECT_LT(cut.size(), 140U);
  EXPECT_THAT(cut, HasSubstr("…"));
}

}  // namespace
}  // namespace sotto::models::testing
