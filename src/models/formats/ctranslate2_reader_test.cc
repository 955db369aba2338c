#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "models/formats/model_file.h"
#include "models/formats/testing/model_bytes.h"
#include "models/formats/testing/reader_checks.h"

namespace sotto::models::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr uint8_t kF32 = 0, kI8 = 1, kI16 = 2, kI32 = 3, kF16 = 4, kBf16 = 5;

ByteWriter header(uint32_t variables, uint32_t version = 6) {
  ByteWriter out;
  out.u32(version).ct2_string("WhisperSpec").u32(3).u32(variables);
  return out;
}

ByteWriter& variable(ByteWriter& out, std::string_view name, const std::vector<uint32_t>& dims,
                     uint8_t type, uint32_t bytes) {
  out.ct2_string(name).u8(static_cast<uint8_t>(dims.size()));
  for (const uint32_t dim : dims)
    out.u32(dim);
  return out.u8(type).u32(bytes).ramp(bytes);
}

/// Every type, a quantised matrix, a setting and two aliases.
ByteWriter valid_model() {
  ByteWriter out = header(8);
  variable(out, "a/f32", {2, 3}, kF32, 24);
  variable(out, "a/f16", {5}, kF16, 10);
  variable(out, "a/bf16", {1, 2, 3}, kBf16, 12);
  variable(out, "a/i32", {2}, kI32, 8);
  variable(out, "encoder/num_heads", {}, kI16, 0 + 2);
  variable(out, "d/weight", {2, 4}, kI8, 8);
  variable(out, "d/weight_scale", {2}, kF32, 8);
  variable(out, "empty", {0, 3}, kF32, 0);
  out.u32(2)
      .ct2_string("p/weight")
      .ct2_string("d/weight")
      .ct2_string("p/weight_scale")
      .ct2_string("d/weight_scale");
  return out;
}

TEST(CTranslate2Reader, IndexesEveryVariableWhereItLies) {
  const ByteWriter file = valid_model();
  ModelFile model;
  ASSERT_EQ(read_ctranslate2(file.bytes(), model).message(), "");
  EXPECT_EQ(model.format, FileFormat::kCTranslate2);
  EXPECT_EQ(model.tensors.size(), 10U);
  EXPECT_EQ(std::get<std::string>(model.metadata.at("spec")), "WhisperSpec");
  EXPECT_EQ(std::get<int64_t>(model.metadata.at("spec_revision")), 3);

  const TensorView& first = model.tensors.at("a/f32");
  EXPECT_EQ(first.dtype, DType::kF32);
  EXPECT_EQ(first.dims, (std::vector<int64_t>{2, 3}));
  // version, "WhisperSpec\0", revision, count; name, rank, dims, type, size.
  const size_t head = 4 + (2 + 12) + 4 + 4;
  EXPECT_EQ(offset_in(first.bytes, file.bytes()), head + (2 + 6) + 1 + 8 + 1 + 4);
  EXPECT_EQ(first.bytes.size(), 24U);

  EXPECT_EQ(model.tensors.at("a/f16").dtype, DType::kF16);
  EXPECT_EQ(offset_in(model.tensors.at("a/f16").bytes, file.bytes()),
            offset_in(first.bytes, file.bytes()) + 24 + (2 + 6) + 1 + 4 + 1 + 4);
  EXPECT_EQ(model.tensors.at("a/bf16").dtype, DType::kBf16);
  EXPECT_EQ(model.tensors.at("a/i32").dtype, DType::kI32);
  EXPECT_TRUE(model.tensors.at("empty").bytes.empty());
}

TEST(CTranslate2Reader, SettingsAreMetadataToo) {
  const ByteWriter file = valid_model();
  ModelFile model;
  ASSERT_TRUE(read_ctranslate2(file.bytes(), model).ok());
  EXPECT_EQ(std::get<int64_t>(model.metadata.at("encoder/num_heads")), 0x0100);
  EXPECT_FALSE(model.metadata.contains("a/i32"));
}

TEST(CTranslate2Reader, Int8CarriesItsRowScalesAlsoThroughAnAlias) {
  const ByteWriter file = valid_model();
  ModelFile model;
  ASSERT_TRUE(read_ctranslate2(file.bytes(), model).ok());
  const TensorView& weight = model.tensors.at("d/weight");
  EXPECT_EQ(weight.dtype, DType::kI8);
  EXPECT_EQ(weight.row_scales.data(), model.tensors.at("d/weight_scale").bytes.data());
  EXPECT_EQ(weight.row_scales.size(), 8U);
  const TensorView& alias = model.tensors.at("p/weight");
  EXPECT_EQ(alias.bytes.data(), weight.bytes.data());
  EXPECT_EQ(alias.row_scales.data(), weight.row_scales.data());
  EXPECT_TRUE(model.tensors.at("a/f32").row_scales.empty());
}

TEST(CTranslate2Reader, AnAliasOfAQuantisedWeightHasItsScalesWithoutAnAliasOfThem) {
  ByteWriter file = header(2);
  variable(file, "d/weight", {2, 4}, kI8, 8);
  variable(file, "d/weight_scale", {2}, kF32, 8);
  file.u32(1).ct2_string("p/weight").ct2_string("d/weight");
  ModelFile model;
  ASSERT_EQ(read_ctranslate2(file.bytes(), model).message(), "");
  EXPECT_EQ(model.tensors.at("p/weight").row_scales.data(),
            model.tensors.at("d/weight_scale").bytes.data());
}

TEST(CTranslate2Reader, EveryTruncationIsAnError) {
  expect_every_truncation_fails(read_ctranslate2, valid_model().bytes());
}

TEST(CTranslate2Reader, MutatedFilesAreHarmless) {
  expect_mutations_are_harmless(read_ctranslate2, valid_model().bytes(), 20000);
}

TEST(CTranslate2Reader, OtherVersionsAreRefusedByNumber) {
  for (const uint32_t version : {1U, 3U, 7U}) {
    const Status status = failure(read_ctranslate2, header(0, version).u32(0).bytes());
    EXPECT_EQ(status.code(), StatusCode::kUnsupported);
    EXPECT_THAT(status.message(), HasSubstr("version " + std::to_string(version)));
  }
  EXPECT_TRUE(failure(read_ctranslate2, header(0, 4).u32(0).bytes()).ok());
}

struct Hostile {
  const char* problem;  ///< Must be in the message
  ByteWriter file;
};

std::vector<Hostile> hostile_files() {
  std::vector<Hostile> out;
  const auto add = [&](const char* problem, uint32_t variables) -> ByteWriter& {
    return out.emplace_back(Hostile{problem, header(variables)}).file;
  };
  add("4294967295 variables", 0xffffffffU).ramp(64);
  variable(add("its size of 24 bytes contradicts f32 of shape [2, 4] (32 bytes)", 1), "x", {2, 4},
           kF32, 24)
      .u32(0);
  variable(add("\"x\": the shape is impossible", 1), "x", {0xffffffffU, 0xffffffffU, 0xffffffffU},
           kF32, 4)
      .u32(0);
  variable(add("\"x\": the shape is impossible", 1), "x",
           {0, 0xffffffffU, 0xffffffffU, 0xffffffffU}, kF32, 0)
      .u32(0);
  variable(add("\"x\": unknown type code 6", 1), "x", {1}, 6, 4).u32(0);
  add("\"x\": it has 200 dimensions", 1).ct2_string("x").u8(200).ramp(900);
  ByteWriter& twice = add("two tensors are named \"x\"", 2);
  variable(twice, "x", {1}, kF32, 4);
  variable(twice, "x", {1}, kF32, 4).u32(0);
  variable(add("a tensor has no name", 1), "", {1}, kF32, 4).u32(0);
  variable(add("two tensors are named \"a\\xff\\x1b[31m\"", 1), "a\xff\x1b[31m", {1}, kF32, 4)
      .u32(1)
      .ct2_string("a\xff\x1b[31m")
      .ct2_string("a\xff\x1b[31m");
  variable(add("alias \"y\" refers to \"z\", which is not in the file", 1), "x", {1}, kF32, 4)
      .u32(1)
      .ct2_string("y")
      .ct2_string("z");
  variable(add("99999 aliases", 1), "x", {1}, kF32, 4).u32(99999);
  variable(add("1 bytes follow the end", 1), "x", {1}, kF32, 4).u32(0).u8(0);
  add("does not end in a zero byte", 1).u16(3).raw("abc").u8(0).u8(kI8).u32(1).u8(0).u32(0);
  ByteWriter& few_scales =
      add("\"w\" of shape [3, 2] needs 3 f32 scales, but \"w_scale\" is f32 of shape [2]", 2);
  variable(few_scales, "w", {3, 2}, kI8, 6);
  variable(few_scales, "w_scale", {2}, kF32, 8).u32(0);
  ByteWriter& half_scales = add("\"w_scale\" is f16", 2);
  variable(half_scales, "w", {3, 2}, kI8, 6);
  variable(half_scales, "w_scale", {3}, kF16, 6).u32(0);
  return out;
}

TEST(CTranslate2Reader, HostileFilesAreErrorsThatNameTheTensorAndTheProblem) {
  for (const Hostile& hostile : hostile_files()) {
    const Status status = failure(read_ctranslate2, hostile.file.bytes());
    EXPECT_EQ(status.code(), StatusCode::kCorrupt) << hostile.problem;
    EXPECT_THAT(status.message(), HasSubstr(hostile.problem));
  }
}

TEST(CTranslate2Reader, Int16WeightsAreRefusedWithAdvice) {
  ByteWriter file = header(2);
  variable(file, "w", {3, 2}, kI16, 12);
  variable(file, "w_scale", {}, kF32, 4).u32(0);
  const Status status = failure(read_ctranslate2, file.bytes());
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("\"w\""), HasSubstr("i16"), HasSubstr("int8")));
}

}  // namespace
}  // namespace sotto::models::testing
