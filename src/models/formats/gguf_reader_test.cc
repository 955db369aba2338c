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

// Value types of the specification.
constexpr uint32_t kUint8 = 0, kInt8 = 1, kUint16 = 2, kInt16 = 3, kUint32 = 4, kInt32 = 5,
                   kFloat32 = 6, kBool = 7, kString = 8, kArray = 9, kUint64 = 10, kInt64 = 11,
                   kFloat64 = 12;

ByteWriter header(uint64_t tensors, uint64_t pairs, uint32_t version = 3) {
  ByteWriter out;
  out.raw("GGUF").u32(version).u64(tensors).u64(pairs);
  return out;
}

ByteWriter& key(ByteWriter& out, std::string_view name, uint32_t type) {
  return out.gguf_string(name).u32(type);
}

/// dims as the file has them, innermost first.
ByteWriter& tensor(ByteWriter& out, std::string_view name, const std::vector<uint64_t>& dims,
                   uint32_t type, uint64_t offset) {
  out.gguf_string(name).u32(static_cast<uint32_t>(dims.size()));
  for (const uint64_t dim : dims)
    out.u64(dim);
  return out.u32(type).u64(offset);
}

ByteWriter valid_model(uint32_t version = 3) {
  ByteWriter out = header(3, 16, version);
  key(out, "general.architecture", kString).gguf_string("llama");
  key(out, "general.alignment", kUint32).u32(64);
  key(out, "u8", kUint8).u8(200);
  key(out, "i8", kInt8).u8(0xfe);
  key(out, "u16", kUint16).u16(65535);
  key(out, "i16", kInt16).number(int16_t{-2});
  key(out, "i32", kInt32).i32(-3);
  key(out, "f32", kFloat32).number(0.5f);
  key(out, "flag", kBool).u8(1);
  key(out, "u64", kUint64).u64(~uint64_t{0});
  key(out, "i64", kInt64).number(int64_t{-4});
  key(out, "f64", kFloat64).number(0.25);
  key(out, "tokens", kArray).u32(kString).u64(2).gguf_string("a").gguf_string("");
  key(out, "scores", kArray).u32(kFloat32).u64(2).number(1.5f).number(-1.5f);
  key(out, "nested", kArray)
      .u32(kArray)
      .u64(2)
      .u32(kInt32)
      .u64(2)
      .i32(1)
      .i32(-2)
      .u32(kUint8)
      .u64(1)
      .u8(3);
  key(out, "none", kArray).u32(kString).u64(0);
  // Not in the order of their data.
  tensor(out, "b", {256, 2}, 12, 128);  // Q4_K: 2 blocks of 144 bytes
  tensor(out, "a", {3, 5, 2}, 0, 0);    // F32: 120 bytes
  tensor(out, "c", {32}, 39, 448);      // MXFP4: 17 bytes
  return out.pad_to(64).ramp(120).pad_to(64).ramp(288).pad_to(64).ramp(17);
}

TEST(GgufReader, ReadsEveryMetadataType) {
  const ByteWriter file = valid_model();
  ModelFile model;
  ASSERT_EQ(read_gguf(file.bytes(), model).message(), "");
  EXPECT_EQ(model.format, FileFormat::kGguf);
  const auto& meta = model.metadata;
  EXPECT_EQ(meta.size(), 16U);
  EXPECT_EQ(std::get<std::string>(meta.at("general.architecture")), "llama");
  EXPECT_EQ(std::get<uint64_t>(meta.at("u8")), 200U);
  EXPECT_EQ(std::get<int64_t>(meta.at("i8")), -2);
  EXPECT_EQ(std::get<uint64_t>(meta.at("u16")), 65535U);
  EXPECT_EQ(std::get<int64_t>(meta.at("i16")), -2);
  EXPECT_EQ(std::get<int64_t>(meta.at("i32")), -3);
  EXPECT_EQ(std::get<double>(meta.at("f32")), 0.5);
  EXPECT_EQ(std::get<bool>(meta.at("flag")), true);
  EXPECT_EQ(std::get<uint64_t>(meta.at("u64")), ~uint64_t{0});
  EXPECT_EQ(std::get<int64_t>(meta.at("i64")), -4);
  EXPECT_EQ(std::get<double>(meta.at("f64")), 0.25);
  EXPECT_THAT(std::get<std::vector<std::string>>(meta.at("tokens")), ElementsAre("a", ""));
  EXPECT_THAT(std::get<std::vector<double>>(meta.at("scores")), ElementsAre(1.5, -1.5));
  EXPECT_THAT(std::get<std::vector<int64_t>>(meta.at("nested")), ElementsAre(1, -2, 3));
  EXPECT_TRUE(std::get<std::vector<std::string>>(meta.at("none")).empty());
}

TEST(GgufReader, PlacesTensorsAtAlignedOffsets) {
  const ByteWriter file = valid_model();
  ModelFile model;
  ASSERT_TRUE(read_gguf(file.bytes(), model).ok());
  const size_t data = file.size() - (448 + 17);
  const TensorView& a = model.tensors.at("a");
  EXPECT_EQ(a.dims, (std::vector<int64_t>{2, 5, 3}));
  EXPECT_EQ(offset_in(a.bytes, file.bytes()), data);
  EXPECT_EQ(a.bytes.size(), 120U);
  const TensorView& b = model.tensors.at("b");
  EXPECT_EQ(b.dtype, DType::kQ4K);
  EXPECT_EQ(b.dims, (std::vector<int64_t>{2, 256}));
  EXPECT_EQ(offset_in(b.bytes, file.bytes()), data + 128);
  EXPECT_EQ(b.bytes.size(), 288U);
  EXPECT_EQ(model.tensors.at("c").dtype, DType::kMxfp4);
}

TEST(GgufReader, ReadsEveryTensorTypeOfTheTable) {
  struct Row {
    uint32_t code;
    DType dtype;
  };
  for (const Row& row : std::vector<Row>{
           {0, DType::kF32},  {1, DType::kF16},  {2, DType::kQ4_0},  {3, DType::kQ4_1},
           {6, DType::kQ5_0}, {7, DType::kQ5_1}, {8, DType::kQ8_0},  {10, DType::kQ2K},
           {11, DType::kQ3K}, {12, DType::kQ4K}, {13, DType::kQ5K},  {14, DType::kQ6K},
           {15, DType::kQ8K}, {24, DType::kI8},  {25, DType::kI16},  {26, DType::kI32},
           {27, DType::kI64}, {28, DType::kF64}, {30, DType::kBf16}, {39, DType::kMxfp4}}) {
    ByteWriter file = header(1, 0);
    tensor(file, "t", {512}, row.code, 0)
        .pad_to(32)
        .ramp(static_cast<size_t>(dtype_bytes(row.dtype, 512)));
    ModelFile model;
    ASSERT_EQ(read_gguf(file.bytes(), model).message(), "") << row.code;
    EXPECT_EQ(model.tensors.at("t").dtype, row.dtype);
  }
}

TEST(GgufReader, Version2IsReadAndOthersAreRefused) {
  EXPECT_EQ(failure(read_gguf, valid_model(2).bytes()).message(), "");
  EXPECT_THAT(failure(read_gguf, valid_model(1).bytes()).message(), HasSubstr("GGUF version 1"));
  EXPECT_THAT(failure(read_gguf, valid_model(4).bytes()).message(), HasSubstr("GGUF version 4"));
  const Status big_endian = failure(read_gguf, valid_model(0x03000000).bytes());
  EXPECT_EQ(big_endian.code(), StatusCode::kUnsupported);
  EXPECT_THAT(big_endian.message(), HasSubstr("big-endian"));
}

TEST(GgufReader, EveryTruncationIsAnError) {
  expect_every_truncation_fails(read_gguf, valid_model().bytes());
}

TEST(GgufReader, MutatedFilesAreHarmless) {
  expect_mutations_are_harmless(read_gguf, valid_model().bytes(), 20000);
}

struct Hostile {
  const char* problem;  ///< Must be in the message
  ByteWriter file;
};

void add_hostile_metadata(std::vector<Hostile>& out) {
  const auto add = [&](const char* problem, uint64_t pairs = 1) -> ByteWriter& {
    return out.emplace_back(Hostile{problem, header(0, pairs)}).file;
  };
  add("and 18446744073709551615 metadata keys", ~uint64_t{0}).ramp(64);
  add("metadata key 0 is 9223372036854775807 bytes long").u64(0x7fffffffffffffffU).ramp(64);
  key(add("key \"k\": unknown value type 13"), "k", 13).ramp(64);
  key(add("key \"k\": a boolean is 2"), "k", kBool).u8(2);
  key(add("key \"k\": a value is 18446744073709551615 bytes long"), "k", kString)
      .u64(~uint64_t{0})
      .ramp(64);
  key(add("an array claims 4611686018427387904 elements"), "k", kArray)
      .u32(kUint32)
      .u64(uint64_t{1} << 62)
      .ramp(64);
  key(add("an array has the unknown type 99"), "k", kArray).u32(99).u64(1).ramp(64);
  ByteWriter& deep = key(add("nested deeper than 4 levels"), "k", kArray);
  for (int i = 0; i < 8; ++i)
    deep.u32(kArray).u64(1);
  deep.u32(kUint8).u64(0);
  ByteWriter& twice = add("key \"k\" occurs twice", 2);
  key(twice, "k", kUint8).u8(1);
  key(twice, "k", kUint8).u8(1);
  key(add("general.alignment must be a power of two"), "general.alignment", kUint32).u32(0);
  key(add("general.alignment must be a power of two"), "general.alignment", kUint32).u32(48);
  key(add("general.alignment must be a power of two"), "general.alignment", kUint32)
      .u32(0x80000000U);
  key(add("general.alignment must be a power of two"), "general.alignment", kString)
      .gguf_string("32");
}

std::vector<Hostile> hostile_files() {
  std::vector<Hostile> out;
  const auto add = [&](const char* problem, uint64_t tensors = 1) -> ByteWriter& {
    return out.emplace_back(Hostile{problem, header(tensors, 0)}).file;
  };
  add("claims 1152921504606846976 tensors", uint64_t{1} << 60).ramp(64);
  tensor(add("\"t\": a dimension is 18446744073709551615"), "t", {~uint64_t{0}}, 0, 0)
      .pad_to(32)
      .ramp(64);
  tensor(add("\"t\": the shape is impossible"), "t", {uint64_t{1} << 40, uint64_t{1} << 40}, 0, 0)
      .pad_to(32)
      .ramp(64);
  tensor(add("\"t\": the shape is impossible"), "t", {uint64_t{1} << 62}, 0, 0).pad_to(32).ramp(64);
  tensor(add("\"t\": rows must be whole blocks of 256 elements"), "t", {128, 2}, 12, 0)
      .pad_to(32)
      .ramp(144);
  tensor(add("\"t\": unknown ggml type code 31"), "t", {1}, 31, 0).pad_to(32).ramp(64);
  tensor(add("\"t\" takes 64 bytes at offset 32 of the data, which has 64"), "t", {16}, 0, 32)
      .pad_to(32)
      .ramp(64);
  tensor(add("\"t\" takes 64 bytes at offset 18446744073709551584"), "t", {16}, 0, ~uint64_t{31})
      .pad_to(32)
      .ramp(64);
  tensor(add("\"t\" begins at offset 4, which is no multiple of 32"), "t", {1}, 0, 4)
      .pad_to(32)
      .ramp(64);
  tensor(tensor(add("tensor \"u\" overlaps tensor \"t\"", 2), "t", {16}, 0, 0), "u", {16}, 0, 32)
      .pad_to(32)
      .ramp(96);
  tensor(tensor(add("two tensors are named \"t\"", 2), "t", {8}, 0, 0), "t", {8}, 0, 32)
      .pad_to(32)
      .ramp(64);
  add("it has 9 dimensions").gguf_string("t").u32(9).ramp(100);
  tensor(add("a tensor has no name"), "", {1}, 0, 0).pad_to(32).ramp(4);
  tensor(add("tensor \"\\xc0\\x9b\\x00\": unknown ggml"), std::string_view("\xc0\x9b\0", 3), {1},
         77, 0)
      .pad_to(32)
      .ramp(4);
  add_hostile_metadata(out);
  return out;
}

TEST(GgufReader, HostileFilesAreErrorsThatNameThePlaceAndTheProblem) {
  for (const Hostile& hostile : hostile_files()) {
    const Status status = failure(read_gguf, hostile.file.bytes());
    EXPECT_EQ(status.code(), StatusCode::kCorrupt) << hostile.problem;
    EXPECT_THAT(status.message(), HasSubstr(hostile.problem));
  }
}

TEST(GgufReader, KnownTypesThatItCannotReadAreRefusedByName) {
  ByteWriter file = header(1, 0);
  tensor(file, "blk.0.ffn_up.weight", {256}, 16, 0).pad_to(32).ramp(66);
  const Status status = failure(read_gguf, file.bytes());
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(),
              HasSubstr("tensor \"blk.0.ffn_up.weight\": sotto cannot read ggml's type IQ2_XXS"));
}

TEST(GgufReader, MixedNestedArraysAreRefused) {
  ByteWriter file = header(0, 1);
  key(file, "k", kArray)
      .u32(kArray)
      .u64(2)
      .u32(kInt32)
      .u64(1)
      .i32(1)
      .u32(kString)
      .u64(1)
      .gguf_string("x");
  EXPECT_EQ(failure(read_gguf, file.bytes()).code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace sotto::models::testing
