#include "base/float16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/dtype.h"

namespace sotto {
namespace {

TEST(F16, EveryBitPatternRoundTrips) {
  for (uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const F16 half{static_cast<uint16_t>(bits)};
    const float wide = to_float(half);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(to_float(to_f16(wide))));
    } else {
      ASSERT_EQ(to_f16(wide).bits, half.bits) << bits;
    }
  }
}

TEST(F16, RoundsToNearestEven) {
  EXPECT_EQ(to_f16(1.0f + 0x1p-11f).bits, 0x3c00);      // tie: down to even
  EXPECT_EQ(to_f16(1.0f + 3 * 0x1p-11f).bits, 0x3c02);  // tie: up to even
  EXPECT_EQ(to_f16(65519.0f).bits, 0x7bff);
  EXPECT_EQ(to_f16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(to_f16(-0x1p-25f).bits, 0x8000);
}

TEST(Bf16, RoundsToNearestEvenAndKeepsNan) {
  EXPECT_EQ(to_bf16(1.0f).bits, 0x3f80);
  EXPECT_EQ(to_bf16(1.0f + 0x1p-8f).bits, 0x3f80);
  EXPECT_EQ(to_bf16(1.0f + 3 * 0x1p-8f).bits, 0x3f82);
  EXPECT_TRUE(std::isnan(to_float(to_bf16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(DType, BytesRefusePartialBlocksAndOverflow) {
  EXPECT_EQ(dtype_bytes(DType::kF16, 10), 20);
  EXPECT_EQ(dtype_bytes(DType::kQ4_0, 64), 36);
  EXPECT_EQ(dtype_bytes(DType::kQ4_0, 33), -1);
  EXPECT_EQ(dtype_bytes(DType::kF32, std::numeric_limits<int64_t>::max() / 2), -1);
}

}  // namespace
}  // namespace sotto
