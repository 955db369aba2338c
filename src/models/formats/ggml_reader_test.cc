#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "models/formats/model_file.h"
#include "models/formats/testing/model_bytes.h"
#include "models/formats/testing/reader_checks.h"

namespace sotto::models::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int32_t kF32 = 0, kF16 = 1;
// Tensors of a Whisper model with one encoder and one decoder layer: 7 + 4 + 15 + 24.
constexpr int kTensors = 50;

/// Magic, header of a model with one layer each, 1 x 2 mel filters, three tokens.
ByteWriter header() {
  ByteWriter out;
  out.u32(0x67676d6c);
  for (const int32_t v : {51864, 1500, 384, 6, 1, 448, 384, 6, 1, 80, 1})
    out.i32(v);
  out.i32(1).i32(2).number(0.5f).number(-1.0f);
  out.i32(3).u32(1).raw("a").u32(0).u32(2).raw(std::string_view("\xff\0", 2));
  return out;
}

/// dims as the file has them, innermost first.
ByteWriter& tensor(ByteWriter& out, std::string_view name, const std::vector<int32_t>& dims,
                   int32_t type, size_t bytes) {
  out.i32(static_cast<int32_t>(dims.size())).i32(static_cast<int32_t>(name.size())).i32(type);
  for (const int32_t dim : dims)
    out.i32(dim);
  return out.raw(name).ramp(bytes);
}

struct QuantCase {
  const char* name;
  int32_t code;
  DType dtype;
  size_t block_bytes;
};
constexpr QuantCase kQuants[] = {{"q4_0", 2, DType::kQ4_0, 18},
                                 {"q4_1", 3, DType::kQ4_1, 20},
                                 {"q5_0", 6, DType::kQ5_0, 22},
                                 {"q5_1", 7, DType::kQ5_1, 24},
                                 {"q8_0", 8, DType::kQ8_0, 34}};

ByteWriter valid_model() {
  ByteWriter out = header();
  tensor(out, "decoder.token_embedding.weight", {3, 2}, kF32, 24);
  tensor(out, "encoder.conv1.weight", {3, 2, 1}, kF16, 12);
  int written = 2;
  for (const QuantCase& quant : kQuants) {
    tensor(out, quant.name, {64, 3}, quant.code, 6 * quant.block_bytes);
    ++written;
  }
  for (; written < kTensors; ++written)
    tensor(out, "filler." + std::to_string(written), {1}, kF32, 4);
  return out;
}

TEST(GgmlReader, ReadsHeaderFiltersAndVocabulary) {
  const ByteWriter file = valid_model();
  ModelFile model;
  ASSERT_EQ(read_ggml(file.bytes(), model).message(), "");
  EXPECT_EQ(model.format, FileFormat::kGgml);
  EXPECT_EQ(std::get<int64_t>(model.metadata.at("n_vocab")), 51864);
  EXPECT_EQ(std::get<int64_t>(model.metadata.at("n_text_ctx")), 448);
  EXPECT_EQ(std::get<int64_t>(model.metadata.at("n_mels")), 80);
  EXPECT_EQ(std::get<int64_t>(model.metadata.at("ftype")), 1);
  EXPECT_THAT(model.mel_filters, ElementsAre(0.5f, -1.0f));
  EXPECT_THAT(model.vocabulary, ElementsAre("a", "", std::string("\xff\0", 2)));
}

TEST(GgmlReader, IndexesTensorsWithTheOutermostDimensionFirst) {
  const ByteWriter file = valid_model();
  ModelFile model;
  ASSERT_TRUE(read_ggml(file.bytes(), model).ok());
  EXPECT_EQ(model.tensors.size(), static_cast<size_t>(kTensors));
  const TensorView& first = model.tensors.at("decoder.token_embedding.weight");
  EXPECT_EQ(first.dims, (std::vector<int64_t>{2, 3}));
  // Magic and header, filters, vocabulary; rank, name length, type, dims, name.
  const size_t head = 12 * 4 + (2 + 2) * 4 + 4 + (4 + 1) + 4 + (4 + 2);
  EXPECT_EQ(offset_in(first.bytes, file.bytes()), head + 3 * 4 + 2 * 4 + 30);
  const TensorView& conv = model.tensors.at("encoder.conv1.weight");
  EXPECT_EQ(conv.dtype, DType::kF16);
  EXPECT_EQ(conv.dims, (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(offset_in(conv.bytes, file.bytes()), head + 50 + 24 + 3 * 4 + 3 * 4 + 20);
}

TEST(GgmlReader, ReadsTheBlockTypes) {
  const ByteWriter file = valid_model();
  ModelFile model;
  ASSERT_TRUE(read_ggml(file.bytes(), model).ok());
  for (const QuantCase& quant : kQuants) {
    const TensorView& view = model.tensors.at(quant.name);
    EXPECT_EQ(view.dtype, quant.dtype);
    EXPECT_EQ(view.dims, (std::vector<int64_t>{3, 64}));
    EXPECT_EQ(view.bytes.size(), 6 * quant.block_bytes);
  }
}

TEST(GgmlReader, EveryTruncationIsAnErrorAlsoBetweenTensors) {
  expect_every_truncation_fails(read_ggml, valid_model().bytes());
  const ByteWriter file = valid_model();
  const size_t last_tensor = 3 * 4 + 4 + 9 + 4;  // header, dims, "filler.49", data
  const Status status =
      failure(read_ggml, std::span(file.bytes()).first(file.size() - last_tensor));
  EXPECT_THAT(status.message(), HasSubstr("holds 49 tensors; a Whisper model of its size has 50"));
}

TEST(GgmlReader, MutatedFilesAreHarmless) {
  expect_mutations_are_harmless(read_ggml, valid_model().bytes(), 20000);
}

struct Hostile {
  const char* problem;  ///< Must be in the message
  ByteWriter file;
};

std::vector<Hostile> hostile_files() {
  std::vector<Hostile> out;
  const auto add = [&](const char* problem) -> ByteWriter& {
    return out.emplace_back(Hostile{problem, header()}).file;
  };
  tensor(add("\"t\": the shape is impossible"), "t", {0x7fffffff, 0x7fffffff, 0x7fffffff}, kF32, 8);
  tensor(add("\"t\": the shape is impossible: f32 of shape [-1]"), "t", {-1}, kF32, 8);
  tensor(add("the file ends inside the data of tensor \"t\": 4000000000"), "t", {1000000000}, kF32,
         8);
  tensor(add("\"t\": rows must be whole blocks of 32 elements: q4_0 of shape [2, 48]"), "t",
         {48, 2}, 2, 54);
  tensor(add("\"t\": unknown ggml type code 77"), "t", {1}, 77, 4);
  tensor(add("\"t\": unknown ggml type code 4294967295"), "t", {1}, -1, 4);
  tensor(add("a tensor has no name"), "", {1}, kF32, 4);
  tensor(tensor(add("two tensors are named \"t\""), "t", {1}, kF32, 4), "t", {1}, kF32, 4);
  add("claims 5 dimensions").i32(5).i32(1).i32(0).ramp(40);
  add("claims -1 dimensions").i32(-1).i32(1).i32(0).ramp(40);
  add("claims a name of -5 bytes").i32(1).i32(-5).i32(0).ramp(40);
  add("claims a name of 2000000000 bytes").i32(1).i32(2000000000).i32(0).ramp(40);

  ByteWriter prefix;
  prefix.u32(0x67676d6c);
  for (int i = 0; i < 11; ++i)
    prefix.i32(1);
  const auto add_prefix = [&](const char* problem) -> ByteWriter& {
    return out.emplace_back(Hostile{problem, prefix}).file;
  };
  add_prefix("the number of mel filters is -1").i32(-1).ramp(64);
  add_prefix("the number of mel filters is 2000000000").i32(2000000000).ramp(64);
  add_prefix("the file ends inside its mel filters (16 x 16").i32(16).i32(16).ramp(64);
  add_prefix("the size of the vocabulary is 1000000000").i32(0).i32(0).i32(1000000000).ramp(64);
  add_prefix("token 0 of the vocabulary is 4294967295 bytes long")
      .i32(0)
      .i32(0)
      .i32(1)
      .u32(0xffffffffU)
      .ramp(64);

  ByteWriter negative;
  negative.u32(0x67676d6c).i32(-5).ramp(200);
  out.push_back({"the header's n_vocab is -5", negative});
  out.push_back({"not that of whisper.cpp's format", ByteWriter().u32(1).ramp(200)});
  return out;
}

TEST(GgmlReader, HostileFilesAreErrorsThatNameTheTensorAndTheProblem) {
  for (const Hostile& hostile : hostile_files()) {
    const Status status = failure(read_ggml, hostile.file.bytes());
    EXPECT_EQ(status.code(), StatusCode::kCorrupt) << hostile.problem;
    EXPECT_THAT(status.message(), HasSubstr(hostile.problem));
  }
}

TEST(GgmlReader, KnownTypesThatItCannotReadAreRefusedByName) {
  ByteWriter file = header();
  tensor(file, "t", {256}, 20, 144);
  const Status status = failure(read_ggml, file.bytes());
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("tensor \"t\": sotto cannot read ggml's type IQ4_NL"));
}

TEST(GgmlReader, VoiceActivityModelsAreToldApart) {
  const Status status =
      failure(read_ggml, ByteWriter().u32(0x67676d6c).i32(10).raw("silero-16k").ramp(64).bytes());
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("voice-activity model"));
}

}  // namespace
}  // namespace sotto::models::testing
