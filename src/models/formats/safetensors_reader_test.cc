#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "models/formats/model_file.h"
#include "models/formats/testing/model_bytes.h"
#include "models/formats/testing/reader_checks.h"

namespace sotto::models::testing {
namespace {

using ::testing::HasSubstr;

std::vector<std::byte> file_of(std::string_view header, size_t data_bytes) {
  return ByteWriter().u64(header.size()).raw(header).ramp(data_bytes).bytes();
}

std::string entry(std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return R"({"dtype":")" + std::string(dtype) + R"(","shape":)" + std::string(shape) +
         R"(,"data_offsets":)" + std::string(offsets) + "}";
}

std::vector<std::byte> valid_model() {
  return file_of(R"({"__metadata__":{"format":"pt"},"b":)" + entry("F16", "[2,3]", "[8,20]") +
                     R"(,"a":)" + entry("F32", "[2]", "[0,8]") + R"(,"s":)" +
                     entry("I64", "[]", "[20,28]") + R"(,"e":)" + entry("U8", "[0,4]", "[28,28]") +
                     "}   ",
                 28);
}

TEST(SafetensorsReader, IndexesEveryTensorWhereItLies) {
  const std::vector<std::byte> file = valid_model();
  ModelFile model;
  ASSERT_EQ(read_safetensors(file, model).message(), "");
  EXPECT_EQ(model.format, FileFormat::kSafetensors);
  EXPECT_EQ(std::get<std::string>(model.metadata.at("format")), "pt");
  ASSERT_EQ(model.tensors.size(), 4U);
  const TensorView& b = model.tensors.at("b");
  EXPECT_EQ(b.dtype, DType::kF16);
  EXPECT_EQ(b.dims, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(offset_in(b.bytes, file), file.size() - 28 + 8);
  EXPECT_EQ(b.bytes.size(), 12U);
  EXPECT_EQ(model.tensors.at("s").dims, std::vector<int64_t>{});
  EXPECT_EQ(model.tensors.at("s").bytes.size(), 8U);
  EXPECT_TRUE(model.tensors.at("e").bytes.empty());
}

TEST(SafetensorsReader, ReadsEveryType) {
  struct Row {
    const char* name;
    DType dtype;
  };
  for (const Row& row : std::vector<Row>{{"F32", DType::kF32},
                                         {"F16", DType::kF16},
                                         {"BF16", DType::kBf16},
                                         {"F64", DType::kF64},
                                         {"I8", DType::kI8},
                                         {"I16", DType::kI16},
                                         {"I32", DType::kI32},
                                         {"I64", DType::kI64},
                                         {"U8", DType::kU8},
                                         {"BOOL", DType::kBool}}) {
    const auto bytes = static_cast<size_t>(dtype_bytes(row.dtype, 3));
    ModelFile model;
    const auto file = file_of(
        R"({"t":)" + entry(row.name, "[3]", "[0," + std::to_string(bytes) + "]") + "}", bytes);
    ASSERT_EQ(read_safetensors(file, model).message(), "") << row.name;
    EXPECT_EQ(model.tensors.at("t").dtype, row.dtype);
  }
}

TEST(SafetensorsReader, EveryTruncationIsAnError) {
  expect_every_truncation_fails(read_safetensors, valid_model());
}

TEST(SafetensorsReader, MutatedFilesAreHarmless) {
  expect_mutations_are_harmless(read_safetensors, valid_model(), 20000);
}

TEST(SafetensorsReader, HostileFilesAreErrorsThatNameTheTensorAndTheProblem) {
  struct Hostile {
    const char* problem;
    std::vector<std::byte> file;
  };
  const std::string f32_2 = entry("F32", "[2]", "[0,8]");
  const std::vector<Hostile> files = {
      {"the header claims 18446744073709551615 bytes",
       ByteWriter().u64(~uint64_t{0}).raw("{}").bytes()},
      {"the file ends inside the header", ByteWriter().u64(100).raw("{}").bytes()},
      {"not valid JSON at byte 2", file_of("{x}", 0)},
      {"not valid JSON", file_of("{\"\xff\":1}", 0)},
      {"the header is no JSON object", file_of("[1]", 0)},
      {"two keys \"t\"", file_of(R"({"t":)" + f32_2 + R"(,"t":)" + f32_2 + "}", 8)},
      {"two keys \"shape\"",
       file_of(R"({"t":{"dtype":"U8","shape":[1],"shape":[2],"data_offsets":[0,1]}})", 1)},
      {"nested deeper", file_of("{\"t\":" + std::string(100000, '['), 0)},
      {"nested deeper", file_of("{\"t\":" + std::string(65, '[') + std::string(65, ']') + "}", 0)},
      {"\"t\": its header entry is no object", file_of(R"({"t":5})", 0)},
      {"\"t\": it has no \"dtype\"", file_of(R"({"t":{"shape":[],"data_offsets":[0,1]}})", 1)},
      {"\"t\": unknown type \"F33\"", file_of(R"({"t":)" + entry("F33", "[2]", "[0,8]") + "}", 8)},
      {"\"t\": it has no array \"shape\"",
       file_of(R"({"t":)" + entry("F32", "2", "[0,8]") + "}", 8)},
      {"\"t\": its \"shape\" has an element",
       file_of(R"({"t":)" + entry("F32", "[-2]", "[0,8]") + "}", 8)},
      {"\"t\": its \"shape\" has an element",
       file_of(R"({"t":)" + entry("F32", "[2.0]", "[0,8]") + "}", 8)},
      {"\"t\": the shape is impossible",
       file_of(R"({"t":)" + entry("F32", "[4294967296,4294967296,4]", "[0,8]") + "}", 8)},
      {"\"t\": its offsets span 8 bytes, but f32 of shape [3] takes 12",
       file_of(R"({"t":)" + entry("F32", "[3]", "[0,8]") + "}", 8)},
      {"\"t\": its \"data_offsets\" are no",
       file_of(R"({"t":)" + entry("F32", "[2]", "[8,0]") + "}", 8)},
      {"\"t\": its \"data_offsets\" are no",
       file_of(R"({"t":)" + entry("F32", "[2]", "[0]") + "}", 8)},
      {"\"t\": it ends at byte 8 of the data, which has 7", file_of(R"({"t":)" + f32_2 + "}", 7)},
      {"\"u\" begins at byte 4 of the data, but the tensor before it ends at 8",
       file_of(R"({"t":)" + f32_2 + R"(,"u":)" + entry("F32", "[2]", "[4,12]") + "}", 12)},
      {"\"t\" begins at byte 4 of the data, but the tensor before it ends at 0",
       file_of(R"({"t":)" + entry("F32", "[2]", "[4,12]") + "}", 12)},
      {"3 bytes at the end belong to no tensor", file_of(R"({"t":)" + f32_2 + "}", 11)},
      {"__metadata__ is no object", file_of(R"({"__metadata__":3})", 0)},
      {"__metadata__ value of \"a\" is no string", file_of(R"({"__metadata__":{"a":[]}})", 0)},
      {"a tensor has no name", file_of(R"({"":)" + f32_2 + "}", 8)},
  };
  for (const Hostile& hostile : files) {
    const Status status = failure(read_safetensors, hostile.file);
    EXPECT_EQ(status.code(), StatusCode::kCorrupt) << hostile.problem;
    EXPECT_THAT(status.message(), HasSubstr(hostile.problem));
  }
}

TEST(SafetensorsReader, KnownTypesThatItCannotReadAreRefusedByName) {
  const Status status =
      failure(read_safetensors, file_of(R"({"t":)" + entry("F8_E4M3", "[2]", "[0,2]") + "}", 2));
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("tensor \"t\": sotto cannot read the type F8_E4M3"));
}

}  // namespace
}  // namespace sotto::models::testing
