// The shim's own arithmetic: the vectorised multiply-accumulate step against its lane-by-lane
// definition, roundings against the rule, the table exp against its published behaviour.
#define SOTTO_AIE_HOST_ISA under_test
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "npu/aie/host/lut_based_ops.h"

namespace {

using aie::rounding_mode;

float float_of(uint32_t bits) {
  return std::bit_cast<float>(bits);
}

TEST(FusedStep, VectorsAndLanesAgreeOnEveryKindOfOperand) {
  std::mt19937 rng(5);
  const auto pick = [&](uint32_t n) { return static_cast<uint32_t>(rng() % n); };
  for (int round = 0; round < 20000; ++round) {
    // Exponents close together, far apart, at the ends of the range, or zeros.
    const uint32_t spread = 1 + pick(round % 3 == 0 ? 250 : 30);
    const uint32_t base = 1 + pick(253);
    const auto value = [&](uint32_t mantissa_mask) {
      if (pick(8) == 0) return float_of(pick(2) << 31);
      const uint32_t exponent = std::min(base / 2 + 60 + pick(spread), 254U);
      return float_of(pick(2) << 31 | exponent << 23 | (pick(1U << 23) & mantissa_mask));
    };
    aie::host::F32x16 acc;
    aie::host::F32x16 a[8];
    aie::host::F32x16 b[8];
    for (int lane = 0; lane < 16; ++lane) {
      acc[lane] = value(0x7fffff);
      for (int k = 0; k < 8; ++k) {
        a[k][lane] = value(0x7f0000);
        b[k][lane] = value(0x7f0000);
      }
    }
    const aie::host::F32x16 fast = aie::host::fused(acc, a, b);
    const aie::host::F32x16 slow = aie::host::fused_by_lane(acc, a, b);
    for (int lane = 0; lane < 16; ++lane) {
      ASSERT_EQ(std::bit_cast<uint32_t>(float{fast[lane]}),
                std::bit_cast<uint32_t>(float{slow[lane]}))
          << "round " << round << ", lane " << lane;
    }
  }
}

TEST(FusedStep, AlignsEachTermAndRoundsOnce) {
  const float ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  // Eight times 3 * 2^-26 is below half a unit of 2^-23 each on its own: every term vanishes
  // although their sum would not.
  const float tiny[8] = {0x3p-26F, 0x3p-26F, 0x3p-26F, 0x3p-26F,
                         0x3p-26F, 0x3p-26F, 0x3p-26F, 0x3p-26F};
  EXPECT_EQ(aie::host::fused_lane(1, tiny, ones, 8), 1);
  // A term of exactly half a unit goes to even.
  const float half[1] = {0x1p-24F};
  EXPECT_EQ(aie::host::fused_lane(1, half, ones, 1), 1);
  const float above[1] = {0x1.02p-24F};
  EXPECT_EQ(aie::host::fused_lane(1, above, ones, 1), 1 + 0x1p-23F);
}

TEST(FusedStep, SpecialValuesAndTheEndsOfTheRange) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float zero[1] = {0};
  const float inf[1] = {infinity};
  const float one[1] = {1};
  const float minus[1] = {-1};
  EXPECT_TRUE(std::isnan(aie::host::fused_lane(0, zero, inf, 1)));
  EXPECT_EQ(aie::host::fused_lane(5, inf, minus, 1), -infinity);
  EXPECT_TRUE(std::isnan(aie::host::fused_lane(infinity, inf, minus, 1)));
  EXPECT_EQ(aie::host::fused_lane(-1, one, one, 1), 0);
  const float large[1] = {0x1p100F};
  EXPECT_EQ(aie::host::fused_lane(0, large, large, 1), infinity);
  const float small[1] = {0x1p-100F};
  EXPECT_EQ(aie::host::fused_lane(0, small, small, 1), 0);
}

TEST(Narrow, FollowsTheModeOnBothSidesOfZero) {
  struct Case {
    rounding_mode mode;
    uint16_t below, tie_even, tie_odd,
        above;  // of magnitude bits ...0|7fff ...0|8000 ...1|8000 ...0|8001
    uint16_t minus_below, minus_tie_even;
  };
  // Kept bits 0x3f80 (even) or 0x3f81 (odd); results are given for + and then for -.
  const Case cases[] = {
      {rounding_mode::floor, 0x3f80, 0x3f80, 0x3f81, 0x3f80, 0xbf81, 0xbf81},
      {rounding_mode::ceil, 0x3f81, 0x3f81, 0x3f82, 0x3f81, 0xbf80, 0xbf80},
      {rounding_mode::symmetric_floor, 0x3f80, 0x3f80, 0x3f81, 0x3f80, 0xbf80, 0xbf80},
      {rounding_mode::symmetric_ceil, 0x3f81, 0x3f81, 0x3f82, 0x3f81, 0xbf81, 0xbf81},
      {rounding_mode::negative_inf, 0x3f80, 0x3f80, 0x3f81, 0x3f81, 0xbf80, 0xbf81},
      {rounding_mode::positive_inf, 0x3f80, 0x3f81, 0x3f82, 0x3f81, 0xbf80, 0xbf80},
      {rounding_mode::symmetric_zero, 0x3f80, 0x3f80, 0x3f81, 0x3f81, 0xbf80, 0xbf80},
      {rounding_mode::symmetric_inf, 0x3f80, 0x3f81, 0x3f82, 0x3f81, 0xbf80, 0xbf81},
      {rounding_mode::conv_even, 0x3f80, 0x3f80, 0x3f82, 0x3f81, 0xbf80, 0xbf80},
      {rounding_mode::conv_odd, 0x3f80, 0x3f81, 0x3f81, 0x3f81, 0xbf80, 0xbf81},
  };
  const auto narrow = [](uint32_t bits) {
    return aie::host::narrow(aie::host::splat(float_of(bits)))[3];
  };
  for (const Case& c : cases) {
    aie::set_rounding(c.mode);
    SCOPED_TRACE(static_cast<int>(c.mode));
    EXPECT_EQ(narrow(0x3f807fff), c.below);
    EXPECT_EQ(narrow(0x3f808000), c.tie_even);
    EXPECT_EQ(narrow(0x3f818000), c.tie_odd);
    EXPECT_EQ(narrow(0x3f808001), c.above);
    EXPECT_EQ(narrow(0xbf807fff), c.minus_below);
    EXPECT_EQ(narrow(0xbf808000), c.minus_tie_even);
    EXPECT_EQ(narrow(0x7f800000), 0x7f80);
    EXPECT_EQ(narrow(0x7fc00001), 0x7fc0);
    EXPECT_EQ(narrow(0x3f800000), 0x3f80);
  }
  aie::set_rounding(rounding_mode::floor);
  aie::host_core().floor_truncates = true;
  EXPECT_EQ(narrow(0xbf80ffff), 0xbf80);
  aie::host_core() = {};
}

float table_exp(float x) {
  return getExpBf16(aie::broadcast<bfloat16, 16>(bfloat16(x))).to_vector<float>().get(7);
}

TEST(TableExp, HasThePublishedErrorAndAliases) {
  aie::host_core() = {};
  double worst = 0;
  for (uint32_t bits = 0; bits <= 0xc1a0; ++bits) {  // All bf16 from -20 to 0
    const float x = float_of(bits << 16);
    if (x > 0 || x < -20 || std::isnan(x)) continue;
    worst = std::max(worst, std::fabs(double{table_exp(x)} / std::exp(double{x}) - 1));
  }
  EXPECT_NEAR(worst, 0.0084, 0.0002);
  EXPECT_EQ(table_exp(-95), 0);
  EXPECT_GT(table_exp(-170), 1e30F) << "the integer part wraps";
  EXPECT_GT(table_exp(-138), 1e30F);
  aie::host_core().exp_aliases_below = -142;
  EXPECT_EQ(table_exp(-138), 0);
  aie::host_core() = {};
  // A rounding address fetches the next entry just below an integer.
  EXPECT_NEAR(table_exp(-1.0078125F), std::exp(-1.0078125F), 4e-3);
  aie::set_rounding(rounding_mode::conv_even);
  EXPECT_GT(table_exp(-1.0078125F), 2.6 * std::exp(-1.0078125));
  aie::host_core() = {};
}

TEST(MatrixUnit, IntegerProductIsExact) {
  using Mmul = aie::mmul<4, 8, 8, int8_t, int8_t, acc32>;
  std::mt19937 rng(3);
  int8_t a[32];
  int8_t b[64];
  int32_t c[32] = {};
  for (int8_t& v : a)
    v = static_cast<int8_t>(rng());
  for (int8_t& v : b)
    v = static_cast<int8_t>(rng());
  Mmul unit(aie::load_v<32>(c));
  unit.mac(aie::load_v<32>(a), aie::load_v<64>(b));
  aie::store_v(c, unit.to_vector<int32_t>());
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 8; ++j) {
      int sum = 0;
      for (int k = 0; k < 8; ++k)
        sum += a[i * 8 + k] * b[k * 8 + j];
      EXPECT_EQ(c[i * 8 + j], sum);
    }
  }
}

TEST(Reduce, AddsAsAHalvingTree) {
  float lane[16];
  for (int i = 0; i < 16; ++i)
    lane[i] = i % 2 == 0 ? 0x1p24F : 1;
  // Odd lanes meet odd ones first, so all eight ones survive; one after the other they would not.
  EXPECT_EQ(aie::reduce_add(aie::load_v<16>(lane)), 8 * 0x1p24F + 8);
}

}  // namespace
