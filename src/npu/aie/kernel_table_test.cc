// The kernels of the cores, compiled for the host, against double-precision references.
#include "npu/aie/kernel_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "base/float16.h"

namespace sotto::npu {
namespace {

using Bytes = std::vector<std::byte>;

constexpr int64_t kM = 64, kK = 64, kN = 32;
constexpr int64_t kBlockRows = 4, kBlockCols = 4;
constexpr int kF32 = 0, kBf16 = 1, kGelu = 2, kExp = 3;
constexpr int kRoundingModes[] = {0, 1, 2, 3, 8, 9, 10, 11, 12, 13};

const ObjectType kTypeA{{kM, kK}, ElementType::kBf16};
const ObjectType kTypeB{{kK, kN}, ElementType::kBf16};
const ObjectType kTypeC{{kM, kN}, ElementType::kF32};

template <typename T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes out(values.size() * sizeof(T));
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}
template <typename T>
std::vector<T> values_of(const Bytes& bytes) {
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

/// Place of element (row, col) in a tile of `cols` columns in blocks [block_rows, block_cols].
size_t place(int64_t row, int64_t col, int64_t cols, int64_t block_rows, int64_t block_cols) {
  const int64_t block = row / block_rows * (cols / block_cols) + col / block_cols;
  return static_cast<size_t>((block * block_rows + row % block_rows) * block_cols +
                             col % block_cols);
}

Status call(const KernelTable& table, const char* kernel, std::vector<KernelArgument> arguments) {
  return table.find(kernel)->second.run(arguments);
}

KernelTable kernels(CpuIsa isa = CpuIsa::kScalar, const CoreAssumptions& assumptions = {}) {
  return aie_kernels(GenerationId::kXdna1, isa, assumptions).value();
}

std::vector<CpuIsa> usable_isas() {
  std::vector<CpuIsa> out;
  for (const CpuIsa isa : {CpuIsa::kScalar, CpuIsa::kAvx2, CpuIsa::kAvx512}) {
    if (isa <= detected_cpu_isa()) out.push_back(isa);
  }
  return out;
}

/// bf16 values of a normal distribution.
std::vector<Bf16> random_bf16(int64_t count, double sigma, std::mt19937& rng) {
  std::normal_distribution<float> normal(0, static_cast<float>(sigma));
  std::vector<Bf16> out;
  for (int64_t i = 0; i < count; ++i)
    out.push_back(to_bf16(normal(rng)));
  return out;
}

Bytes multiply(const KernelTable& table, const std::vector<Bf16>& a, const std::vector<Bf16>& b,
               Bytes c) {
  Bytes x = bytes_of(a);
  Bytes y = bytes_of(b);
  const Status status =
      call(table, "matmul_bf16_f32", {{x, &kTypeA, 0}, {y, &kTypeB, 0}, {c, &kTypeC, 0}});
  EXPECT_TRUE(status.ok()) << status.message();
  return c;
}

TEST(Matmul, AddsTheProductWithinTheUnitsRounding) {
  std::mt19937 rng(1);
  const auto a = random_bf16(kM * kK, 1, rng);
  const auto b = random_bf16(kK * kN, 1, rng);
  std::vector<float> c(static_cast<size_t>(kM * kN));
  std::normal_distribution<float> normal(0, 10);
  for (float& v : c)
    v = normal(rng);
  for (const CpuIsa isa : usable_isas()) {
    const auto got = values_of<float>(multiply(kernels(isa), a, b, bytes_of(c)));
    for (int64_t i = 0; i < kM; ++i) {
      for (int64_t j = 0; j < kN; ++j) {
        double sum = double{c[place(i, j, kN, kBlockRows, kBlockCols)]};
        double size = std::fabs(sum);
        for (int64_t k = 0; k < kK; ++k) {
          const double product = double{to_float(a[place(i, k, kK, kBlockRows, 8)])} *
                                 double{to_float(b[place(k, j, kN, 8, kBlockCols)])};
          sum += product;
          size += std::fabs(product);
        }
        // Each of the 8 steps rounds 9 aligned terms and the sum by at most half a unit of 2^-23.
        ASSERT_NEAR(got[place(i, j, kN, kBlockRows, kBlockCols)], sum, size * 8 * 10 * 0x1p-24)
            << i << ", " << j;
      }
    }
  }
}

TEST(Matmul, EveryInstructionSetGivesTheSameBits) {
  std::mt19937 rng(2);
  for (const double sigma : {1e-25, 1e-3, 1.0, 1e15}) {
    auto a = random_bf16(kM * kK, sigma, rng);
    auto b = random_bf16(kK * kN, sigma, rng);
    a[5] = Bf16{0x0003};  // A denormal
    b[9] = Bf16{0x8000};  // Minus zero
    const Bytes zero(static_cast<size_t>(kM * kN * 4));
    const Bytes expected = multiply(kernels(CpuIsa::kScalar), a, b, zero);
    for (const CpuIsa isa : usable_isas())
      EXPECT_EQ(multiply(kernels(isa), a, b, zero), expected) << cpu_isa_name(isa);
  }
}

TEST(Matmul, RefusesTilesOfOtherShapes) {
  const ObjectType narrow{{kM, 32}, ElementType::kBf16};
  Bytes a(static_cast<size_t>(narrow.bytes()));
  Bytes b(static_cast<size_t>(kTypeB.bytes()));
  Bytes c(static_cast<size_t>(kTypeC.bytes()));
  EXPECT_EQ(call(kernels(), "matmul_bf16_f32", {{a, &narrow, 0}, {b, &kTypeB, 0}, {c, &kTypeC, 0}})
                .code(),
            StatusCode::kUnsupported);
}

/// The values that mode `mode` stores for sums [64, 32], row-major; both halves are written and the
/// other one must stay as it was.
std::vector<float> store(const KernelTable& table, const std::vector<float>& sums, int mode,
                         int half) {
  std::vector<float> blocked(sums.size());
  for (int64_t i = 0; i < kM; ++i) {
    for (int64_t j = 0; j < kN; ++j)
      blocked[place(i, j, kN, kBlockRows, kBlockCols)] = sums[static_cast<size_t>(i * kN + j)];
  }
  Bytes in = bytes_of(blocked);
  Bytes out(in.size(), std::byte{0xEE});
  const Status status =
      call(table, "epilogue",
           {{in, &kTypeC, 0}, {out, &kTypeC, 0}, {{}, nullptr, mode}, {{}, nullptr, half}});
  EXPECT_TRUE(status.ok()) << status.message();
  std::vector<float> rows(sums.size());
  const auto halves = values_of<Bf16>(out);
  for (int64_t i = 0; i < kM; ++i) {
    for (int64_t j = 0; j < kN; ++j) {
      float& value = rows[static_cast<size_t>(i * kN + j)];
      if (mode == kF32) {
        value = values_of<float>(out)[place(i, j, kN, kBlockRows, kBlockCols)];
        continue;
      }
      // [rows of blocks][half][blocks][4][8]
      const int64_t block = (i / 4 * 2 + half) * (kN / 8) + j / 8;
      value = to_float(halves[static_cast<size_t>((block * 4 + i % 4) * 8 + j % 8)]);
      const int64_t other = (i / 4 * 2 + 1 - half) * (kN / 8) + j / 8;
      EXPECT_EQ(halves[static_cast<size_t>((other * 4 + i % 4) * 8 + j % 8)].bits, 0xEEEE);
    }
  }
  return rows;
}

std::vector<float> evenly(float from, float to) {
  std::vector<float> out(static_cast<size_t>(kM * kN));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = from + (to - from) * static_cast<float>(i) / static_cast<float>(out.size() - 1);
  return out;
}

TEST(Epilogue, StoresSumsAsTheyAreOrRoundedToEven) {
  const auto sums = evenly(-3.7F, 41.3F);
  EXPECT_EQ(store(kernels(), sums, kF32, 0), sums);
  for (const int half : {0, 1}) {
    const auto got = store(kernels(), sums, kBf16, half);
    for (size_t i = 0; i < sums.size(); ++i)
      ASSERT_EQ(got[i], to_float(to_bf16(sums[i])));
  }
}

double exact_gelu(double x) {
  return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
}

TEST(Epilogue, GeluIsWithinItsFitAndHasNoBias) {
  for (const auto& [from, to] : {std::pair(-8.0F, 8.0F), std::pair(-1.0F, 1.0F)}) {
    const auto x = evenly(from, to);
    const auto got = store(kernels(), x, kGelu, 0);
    double bias = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = exact_gelu(double{x[i]});
      // Polynomial and its bf16 arithmetic, then one rounding.
      ASSERT_NEAR(got[i], expected, 2.5e-3 + std::fabs(expected) * 0x1p-8) << x[i];
      bias += got[i] - expected;
    }
    EXPECT_LT(std::fabs(bias) / static_cast<double>(x.size()), 8e-4);
  }
  const auto far = store(kernels(), evenly(-90, -4.1F), kGelu, 1);
  EXPECT_TRUE(std::all_of(far.begin(), far.end(), [](float v) { return v == 0; }));
}

TEST(Epilogue, ExpIsWithinTheTablesRoundingUpToItsBounds) {
  for (const auto& [from, to] :
       {std::pair(-79.0F, 0.0F), std::pair(-1.0F, 1.0F), std::pair(0.0F, 60.0F)}) {
    const auto x = evenly(from, to);
    const auto got = store(kernels(), x, kExp, 0);
    double square = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double error = got[i] / std::exp(double{x[i]}) - 1;
      // Two table entries and the result, each rounded to bf16; the series' end grows with the
      // part that the table does not see.
      const double series = std::fabs(x[i]) > 64 ? 0.025 : std::fabs(x[i]) > 32 ? 4e-3 : 0;
      ASSERT_LT(std::fabs(error), 3.1 * 0x1p-8 + series) << x[i];
      square += error * error;
    }
    EXPECT_LT(std::sqrt(square / static_cast<double>(x.size())), from < -64 ? 6e-3 : 4e-3);
  }
  // Out of bounds: neither wrapped nor infinite.
  const auto low = store(kernels(), evenly(-4000, -130), kExp, 0);
  const auto high = store(kernels(), evenly(88, 5000), kExp, 0);
  for (size_t i = 0; i < low.size(); ++i) {
    ASSERT_LT(low[i], 1e-34F);
    ASSERT_GE(high[i], 5e37F);
    ASSERT_TRUE(std::isfinite(high[i]));
  }
}

TEST(Epilogue, DoesNotDependOnWhatTheCoreWasLeftIn) {
  const auto sums = evenly(-12, 12);
  for (const int mode : {kF32, kBf16, kGelu, kExp}) {
    const auto expected = store(kernels(), sums, mode, 0);
    for (const int rounding : kRoundingModes) {
      CoreAssumptions assumptions;
      assumptions.rounding_after_reset = rounding;
      EXPECT_EQ(store(kernels(CpuIsa::kScalar, assumptions), sums, mode, 0), expected) << rounding;
    }
    for (const CpuIsa isa : usable_isas())
      EXPECT_EQ(store(kernels(isa), sums, mode, 0), expected) << cpu_isa_name(isa);
  }
}

// Mode 0 is read in two ways; the exp epilogue works in it, and stays within its bound in both.
TEST(Epilogue, ExpHoldsUnderBothReadingsOfFloor) {
  CoreAssumptions truncates;
  truncates.floor_truncates = true;
  const auto x = evenly(-30, 30);
  const auto got = store(kernels(CpuIsa::kScalar, truncates), x, kExp, 0);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(got[i] / std::exp(double{x[i]}), 1, 3.1 * 0x1p-8) << x[i];
}

}  // namespace
}  // namespace sotto::npu
