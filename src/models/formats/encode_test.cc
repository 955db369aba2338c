// Encoders against the dequantiser of the kernels, an independent reading of the same formats.
#include "models/formats/encode.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/dequantize.h"
#include "kernels/kernel_table.h"

namespace sotto::models {
namespace {

using ::testing::ElementsAre;

std::vector<float> decode(DType type, std::span<const std::byte> bytes, size_t n, float scale = 1) {
  std::vector<float> y(n);
  kernels::dequantize_row(kernels::kernel_table(CpuIsa::kScalar).convert, type, bytes.data(),
                          static_cast<int64_t>(n), scale, y.data());
  return y;
}

std::vector<std::byte> encode(DType type, std::span<const float> x) {
  std::vector<std::byte> out(
      static_cast<size_t>(dtype_bytes(type, static_cast<int64_t>(x.size()))));
  EXPECT_TRUE(encode_row(type, x, out));
  return out;
}

std::vector<float> round_trip(DType type, std::span<const float> x) {
  const std::vector<std::byte> bytes = encode(type, x);
  return decode(type, bytes, x.size());
}

std::vector<float> random_row(size_t n, float mean, float deviation) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(mean, deviation);
  std::vector<float> x(n);
  std::generate(x.begin(), x.end(), [&] { return normal(random); });
  return x;
}

struct BlockType {
  DType type;
  int codes;       ///< Steps that span the block's range
  bool symmetric;  ///< The range is [-max |x|, max |x|], else [min, max]
};
const std::vector<BlockType> kBlockTypes = {{DType::kQ4_0, 16, true},
                                            {DType::kQ4_1, 15, false},
                                            {DType::kQ5_0, 32, true},
                                            {DType::kQ5_1, 31, false},
                                            {DType::kQ8_0, 254, true}};

TEST(Encode, BlocksComeBackWithinHalfAStep) {
  for (const BlockType& block_type : kBlockTypes) {
    for (const float mean : {0.0f, 0.3f, -0.3f}) {
      const std::vector<float> x = random_row(32 * 64, mean, 0.1f);
      const std::vector<float> y = round_trip(block_type.type, x);
      for (size_t block = 0; block < x.size(); block += 32) {
        const auto [low, high] =
            std::minmax_element(x.begin() + static_cast<ptrdiff_t>(block),
                                x.begin() + static_cast<ptrdiff_t>(block) + 32);
        const float range = block_type.symmetric ? 2 * std::max(-*low, *high) : *high - *low;
        const float step = range / static_cast<float>(block_type.codes);
        for (size_t i = block; i < block + 32; ++i) {
          // The centred types lack a code at the end away from their extreme value, so that end may
          // be a step off; the rest of the tolerance is the rounding of scale and minimum to f16.
          const float end = block_type.symmetric && block_type.codes <= 32 ? step / 2 : 0;
          EXPECT_NEAR(y[i], x[i], step / 2 + end + 1e-3f * std::max(-*low, *high))
              << dtype_info(block_type.type).name << " element " << i;
        }
      }
    }
  }
}

TEST(Encode, ErrorsShrinkWithTheBits) {
  const std::vector<float> x = random_row(32 * 256, 0, 1);
  const auto error = [&](DType type) {
    const std::vector<float> y = round_trip(type, x);
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i)
      sum += std::pow(x[i] - y[i], 2);
    return std::sqrt(sum / static_cast<double>(x.size()));
  };
  // Of a standard normal: a step of q8_0 is about 2.2 / 127, uniform errors are step / sqrt(12).
  EXPECT_NEAR(error(DType::kQ8_0), 2.2 / 127 / std::sqrt(12.0), 1e-3);
  EXPECT_LT(error(DType::kQ5_1), 0.05);
  EXPECT_LT(error(DType::kQ5_0), 0.05);
  EXPECT_LT(error(DType::kQ4_1), 0.1);
  EXPECT_LT(error(DType::kQ4_0), 0.1);
}

TEST(Encode, Q8_0HasTheLayoutOfTheReference) {
  std::vector<float> x(32, 0.0f);
  x[0] = 127;
  x[1] = -127;
  x[31] = 3;
  const std::vector<std::byte> bytes = encode(DType::kQ8_0, x);
  ASSERT_EQ(bytes.size(), 34U);
  EXPECT_EQ(bytes[0], std::byte{0x00});  // 1.0 in f16
  EXPECT_EQ(bytes[1], std::byte{0x3c});
  EXPECT_EQ(bytes[2], std::byte{127});
  EXPECT_EQ(bytes[3], std::byte{0x81});
  EXPECT_EQ(bytes[33], std::byte{3});
}

TEST(Encode, Q4_0PutsTheFarthestValueAtTheLongEnd) {
  std::vector<float> x(32, 0.0f);
  x[0] = 8;    // code 0, as the step is -1
  x[16] = -7;  // code 15
  const std::vector<std::byte> bytes = encode(DType::kQ4_0, x);
  ASSERT_EQ(bytes.size(), 18U);
  EXPECT_EQ(bytes[1], std::byte{0xbc});  // -1.0 in f16
  EXPECT_EQ(bytes[2], std::byte{0xf0});
  EXPECT_EQ(bytes[3], std::byte{0x88});
  EXPECT_EQ(round_trip(DType::kQ4_0, x), x);
}

TEST(Encode, Q5_1KeepsFifthBitsApart) {
  std::vector<float> x(32);
  for (size_t i = 0; i < 32; ++i)
    x[i] = static_cast<float>(i) - 4;
  const std::vector<std::byte> bytes = encode(DType::kQ5_1, x);
  ASSERT_EQ(bytes.size(), 24U);
  EXPECT_THAT(std::vector<std::byte>(bytes.begin() + 4, bytes.begin() + 8),
              ElementsAre(std::byte{0}, std::byte{0}, std::byte{0xff}, std::byte{0xff}));
  EXPECT_EQ(round_trip(DType::kQ5_1, x), x);
}

TEST(Encode, ConstantAndTinyBlocksStayFinite) {
  for (const BlockType& block_type : kBlockTypes) {
    for (const float value : {0.0f, -0.0f, 1.0f, -2.5f, 1e-30f, 65504.0f, -65504.0f}) {
      const std::vector<float> x(32, value);
      for (const float y : round_trip(block_type.type, x)) {
        EXPECT_NEAR(y, value, 1e-6f + std::fabs(value) * 2e-3f) << dtype_info(block_type.type).name;
      }
    }
  }
}

TEST(Encode, PlainTypesRound) {
  const std::vector<float> x = {0.0f, 1.0f, -1.5f, 0.1f, 65504.0f, 1e-7f};
  EXPECT_EQ(round_trip(DType::kF32, x), x);
  const std::vector<float> half = round_trip(DType::kF16, x);
  const std::vector<float> brain = round_trip(DType::kBf16, x);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(half[i], x[i], std::max(1e-7f, std::fabs(x[i]) * 0x1p-11f));
    EXPECT_NEAR(brain[i], x[i], std::fabs(x[i]) * 0x1p-8f);
  }
}

TEST(Encode, ValuesThatDoNotFitAreRefused) {
  std::vector<float> x(32, 1.0f);
  std::vector<std::byte> out(128);
  for (const float value :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    x[5] = value;
    EXPECT_FALSE(encode_row(DType::kF32, x, out));
    EXPECT_FALSE(encode_row(DType::kQ8_0, x, out));
  }
  x[5] = 70000;
  EXPECT_TRUE(encode_row(DType::kF32, x, out));
  EXPECT_TRUE(encode_row(DType::kBf16, x, out));
  EXPECT_FALSE(encode_row(DType::kF16, x, out));
  EXPECT_FALSE(encode_row(DType::kQ4_1, x, out));
}

TEST(Encode, OnlyWritableTypesAreClaimed) {
  EXPECT_TRUE(can_encode(DType::kQ5_0));
  for (const DType type : {DType::kQ4K, DType::kMxfp4, DType::kI8, DType::kI64, DType::kF64}) {
    EXPECT_FALSE(can_encode(type)) << dtype_info(type).name;
  }
}

TEST(Encode, Int8RowsFollowCTranslate2) {
  const std::vector<float> x = random_row(384, 0, 0.05f);
  const float scale = int8_row_scale(x);
  std::vector<std::byte> q(x.size());
  encode_int8_row(x, scale, q);
  const std::vector<float> y = decode(DType::kI8, q, x.size(), scale);
  float largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(y[i], x[i], 0.5f / scale * 1.0001f);
    largest = std::max(largest, std::fabs(static_cast<float>(static_cast<int8_t>(q[i]))));
  }
  EXPECT_EQ(largest, 127);
  EXPECT_EQ(int8_row_scale(std::vector<float>(8, 0.0f)), 1.0f);
  EXPECT_TRUE(std::isfinite(int8_row_scale(std::vector<float>(8, 1e-40f))));
}

}  // namespace
}  // namespace sotto::models
