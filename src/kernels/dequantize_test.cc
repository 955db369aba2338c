#include "kernels/dequantize.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <vector>

#include "base/float16.h"
#include "kernels/kernel_table.h"
#include "kernels/testing/kernel_testing.h"

namespace sotto::kernels {
namespace {

class Dequantize : public ::testing::TestWithParam<CpuIsa> {
 protected:
  std::vector<float> row(DType type, const std::vector<uint8_t>& bytes, int64_t n,
                         float scale = 1) {
    EXPECT_TRUE(can_dequantize(type));
    EXPECT_EQ(static_cast<int64_t>(bytes.size()), dtype_bytes(type, n));
    std::vector<uint8_t> shifted(1);  // formats promise nothing about alignment
    shifted.insert(shifted.end(), bytes.begin(), bytes.end());
    std::vector<float> out(static_cast<size_t>(n));
    dequantize_row(kernel_table(GetParam()).convert, type,
                   std::as_bytes(std::span(shifted)).data() + 1, n, scale, out.data());
    return out;
  }
};

void append_f16(std::vector<uint8_t>& bytes, float v) {
  const uint16_t bits = to_f16(v).bits;
  bytes.push_back(static_cast<uint8_t>(bits & 0xff));
  bytes.push_back(static_cast<uint8_t>(bits >> 8));
}

TEST_P(Dequantize, PlainTypes) {
  std::vector<uint8_t> f16, bf16, f32(4 * 67), f64(8 * 3);
  std::vector<float> values;
  for (int i = 0; i < 67; ++i)
    values.push_back(static_cast<float>(i - 30) * 0.125f);
  for (float v : values) {
    append_f16(f16, v);
    const uint16_t bits = to_bf16(v).bits;
    bf16.push_back(static_cast<uint8_t>(bits & 0xff));
    bf16.push_back(static_cast<uint8_t>(bits >> 8));
  }
  std::memcpy(f32.data(), values.data(), f32.size());
  const double doubles[3] = {1.5, -2.25, 1e10};
  std::memcpy(f64.data(), doubles, sizeof doubles);
  EXPECT_EQ(row(DType::kF16, f16, 67), values);
  EXPECT_EQ(row(DType::kBf16, bf16, 67), values);
  EXPECT_EQ(row(DType::kF32, f32, 67), values);
  EXPECT_EQ(row(DType::kF64, f64, 3), (std::vector<float>{1.5f, -2.25f, 1e10f}));
}

TEST_P(Dequantize, Int8DividesByTheScale) {
  EXPECT_EQ(row(DType::kI8, {0x80, 0xff, 0x00, 0x7f}, 4, 2.0f),
            (std::vector<float>{-64.0f, -0.5f, 0.0f, 63.5f}));
}

// Byte i holds element i below and element i + 16 above.
TEST_P(Dequantize, FourBits) {
  std::vector<uint8_t> q4_0, q4_1;
  append_f16(q4_0, 0.5f);
  append_f16(q4_1, 0.5f);
  append_f16(q4_1, -3.0f);
  std::vector<float> want_0(32), want_1(32);
  for (int i = 0; i < 16; ++i) {
    const int low = i;
    const int high = 15 - i;
    q4_0.push_back(static_cast<uint8_t>(low | high << 4));
    q4_1.push_back(static_cast<uint8_t>(low | high << 4));
    want_0[static_cast<size_t>(i)] = 0.5f * static_cast<float>(low - 8);
    want_0[static_cast<size_t>(i + 16)] = 0.5f * static_cast<float>(high - 8);
    want_1[static_cast<size_t>(i)] = 0.5f * static_cast<float>(low) - 3.0f;
    want_1[static_cast<size_t>(i + 16)] = 0.5f * static_cast<float>(high) - 3.0f;
  }
  EXPECT_EQ(row(DType::kQ4_0, q4_0, 32), want_0);
  EXPECT_EQ(row(DType::kQ4_1, q4_1, 32), want_1);
}

// Bit i of the word is the fifth bit of element i.
TEST_P(Dequantize, FiveBits) {
  std::vector<uint8_t> q5_0, q5_1;
  append_f16(q5_0, 2.0f);
  append_f16(q5_1, 2.0f);
  append_f16(q5_1, 1.0f);
  const uint32_t fifth = 0xa5c3f018U;
  for (auto* block : {&q5_0, &q5_1}) {
    for (int i = 0; i < 4; ++i)
      block->push_back(static_cast<uint8_t>(fifth >> (8 * i)));
  }
  std::vector<float> want_0(32), want_1(32);
  for (int i = 0; i < 16; ++i) {
    const int low = (3 * i) & 15;
    const int high = (7 * i + 1) & 15;
    q5_0.push_back(static_cast<uint8_t>(low | high << 4));
    q5_1.push_back(static_cast<uint8_t>(low | high << 4));
    for (int half = 0; half < 2; ++half) {
      const int element = i + 16 * half;
      const int code = (half == 0 ? low : high) + static_cast<int>((fifth >> element) & 1U) * 16;
      want_0[static_cast<size_t>(element)] = 2.0f * static_cast<float>(code - 16);
      want_1[static_cast<size_t>(element)] = 2.0f * static_cast<float>(code) + 1.0f;
    }
  }
  EXPECT_EQ(row(DType::kQ5_0, q5_0, 32), want_0);
  EXPECT_EQ(row(DType::kQ5_1, q5_1, 32), want_1);
}

TEST_P(Dequantize, EightBitsInTwoBlocks) {
  std::vector<uint8_t> bytes;
  std::vector<float> want;
  for (int block = 0; block < 2; ++block) {
    append_f16(bytes, 0.25f * static_cast<float>(block + 1));
    for (int i = 0; i < 32; ++i) {
      const auto q = static_cast<int8_t>(i * 8 - 128 + block);
      bytes.push_back(static_cast<uint8_t>(q));
      want.push_back(0.25f * static_cast<float>(block + 1) * static_cast<float>(q));
    }
  }
  EXPECT_EQ(row(DType::kQ8_0, bytes, 64), want);
}

TEST(DequantizeTypes, UnknownOnesAreRefused) {
  for (DType type : {DType::kI32, DType::kBool, DType::kQ4K, DType::kMxfp4})
    EXPECT_FALSE(can_dequantize(type));
}

INSTANTIATE_TEST_SUITE_P(Isas, Dequantize, ::testing::ValuesIn(testing::usable_isas()),
                         testing::isa_label);

}  // namespace
}  // namespace sotto::kernels
