// Row kernels and the int8 product against double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>

#include "base/float16.h"
#include "npu/aie/kernel_table.h"

namespace sotto::npu {
namespace {

constexpr int kRoundingModes[] = {0, 1, 2, 3, 8, 9, 10, 11, 12, 13};

std::vector<double> run_row(const char* kernel, const std::vector<float>& row,
                            ElementType in = ElementType::kBf16,
                            const CoreAssumptions& assumptions = {}, CpuIsa isa = CpuIsa::kScalar) {
  const KernelTable table = aie_kernels(GenerationId::kXdna1, isa, assumptions).value();
  const auto n = static_cast<int64_t>(row.size());
  const ObjectType in_type{{n}, in};
  const ObjectType out_type{{n}, ElementType::kBf16};
  std::vector<std::byte> x(static_cast<size_t>(in_type.bytes()));
  std::vector<std::byte> y(static_cast<size_t>(out_type.bytes()), std::byte{0xEE});
  for (size_t i = 0; i < row.size(); ++i) {
    if (in == ElementType::kF32) {
      std::memcpy(x.data() + 4 * i, &row[i], 4);
    } else {
      const Bf16 v = to_bf16(row[i]);
      std::memcpy(x.data() + 2 * i, &v, 2);
    }
  }
  const Status status = table.find(kernel)->second.run(
      std::vector<KernelArgument>{{x, &in_type, 0}, {y, &out_type, 0}, {{}, nullptr, n}});
  EXPECT_TRUE(status.ok()) << status.message();
  std::vector<double> out;
  for (size_t i = 0; i < row.size(); ++i) {
    Bf16 v;
    std::memcpy(&v, y.data() + 2 * i, 2);
    out.push_back(double{to_float(v)});
  }
  return out;
}

/// Normal values that bf16 holds exactly.
std::vector<float> normal_row(size_t n, double mean, double sigma, uint32_t seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<double> normal(mean, sigma);
  std::vector<float> out(n);
  for (float& v : out)
    v = to_float(to_bf16(static_cast<float>(normal(rng))));
  return out;
}

double relative_error(const std::vector<double>& got, const std::vector<double>& expected) {
  double difference = 0;
  double size = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    difference += std::pow(got[i] - expected[i], 2);
    size += std::pow(expected[i], 2);
  }
  return std::sqrt(difference / size);
}

std::vector<double> exact_softmax(const std::vector<float>& row) {
  const double highest = *std::max_element(row.begin(), row.end());
  std::vector<double> out;
  for (const float v : row)
    out.push_back(std::exp(v - highest));
  const double sum = std::accumulate(out.begin(), out.end(), 0.0);
  for (double& v : out)
    v /= sum;
  return out;
}

TEST(SoftmaxRow, EveryFormIsWithinItsBound) {
  struct Form {
    const char* kernel;
    double bound;
  };
  for (const Form form : {Form{"softmax_row_v1", 0.02}, Form{"softmax_row_v2", 0.02},
                          Form{"softmax_row_v3", 0.012}, Form{"softmax_row_v4", 0.012}}) {
    for (const double sigma : {0.1, 1.0, 6.0}) {
      const auto row = normal_row(1504, 0, sigma, 9);
      const auto got = run_row(form.kernel, row);
      EXPECT_LT(relative_error(got, exact_softmax(row)), form.bound)
          << form.kernel << ", sigma " << sigma;
    }
  }
}

TEST(SoftmaxRow, RowsOfProbabilitiesSumToOneInTheBestForm) {
  for (const double sigma : {1.0, 6.0}) {
    const auto got = run_row("softmax_row", normal_row(1504, 3, sigma, 4));
    EXPECT_NEAR(std::accumulate(got.begin(), got.end(), 0.0), 1, 2e-3);
  }
}

TEST(SoftmaxRow, TakesTheMaximumOffAndHoldsTheTablesRange) {
  auto row = normal_row(512, 0, 2, 5);
  for (float& v : row)
    v = std::round(v);
  auto shifted = row;
  for (float& v : shifted)
    v += 64;  // Both are whole numbers that bf16 holds
  EXPECT_EQ(run_row("softmax_row", shifted), run_row("softmax_row", row));
  std::vector<float> far(32, -500);  // Beyond where the table's index wraps
  far[7] = 100;
  const auto got = run_row("softmax_row", far);
  EXPECT_EQ(got[7], 1);
  EXPECT_LT(got[8], 1e-30);
}

std::vector<double> exact_layer_norm(const std::vector<float>& row) {
  const double n = static_cast<double>(row.size());
  const double mean = std::accumulate(row.begin(), row.end(), 0.0) / n;
  double variance = 0;
  for (const float v : row)
    variance += (v - mean) * (v - mean) / n;
  std::vector<double> out;
  for (const float v : row)
    out.push_back((v - mean) / std::sqrt(variance + 1e-5));
  return out;
}

// Also where the mean is far larger than the deviation.
TEST(LayerNormRow, LosesOnlyTheResultsRounding) {
  for (const auto& [mean, sigma] :
       {std::pair(0.0, 1.0), std::pair(0.3, 0.02), std::pair(-20.0, 3.0), std::pair(50.0, 1.0)}) {
    for (const size_t n : {size_t{384}, size_t{1280}}) {
      const auto row = normal_row(n, mean, sigma, 8);
      EXPECT_LT(relative_error(run_row("layer_norm_row", row), exact_layer_norm(row)), 2.5e-3)
          << mean << " +- " << sigma;
    }
  }
}

TEST(GeluRow, FromF32IsMorePreciseThanFromBf16) {
  std::vector<float> row(1024);
  std::mt19937 rng(6);
  std::normal_distribution<float> normal(-1, 2);
  for (float& v : row)
    v = normal(rng);
  std::vector<double> expected;
  for (const float v : row)
    expected.push_back(0.5 * v * std::erfc(-v / std::sqrt(2.0)));
  const double wide = relative_error(run_row("gelu_row", row, ElementType::kF32), expected);
  const double narrow = relative_error(run_row("gelu_row", row), expected);
  EXPECT_LT(wide, 2.5e-3);
  EXPECT_LT(narrow, 4e-3);
  EXPECT_LT(wide, narrow);
}

TEST(RowKernels, DoNotDependOnTheCoresStateOrTheInstructionSet) {
  const auto row = normal_row(480, 0.5, 2, 3);
  for (const char* kernel : {"softmax_row_v1", "softmax_row_v2", "softmax_row_v3", "softmax_row_v4",
                             "layer_norm_row", "gelu_row"}) {
    const auto expected = run_row(kernel, row);
    for (const int mode : kRoundingModes) {
      CoreAssumptions assumptions;
      assumptions.rounding_after_reset = mode;
      EXPECT_EQ(run_row(kernel, row, ElementType::kBf16, assumptions), expected) << kernel << mode;
    }
    for (const CpuIsa isa : {CpuIsa::kAvx2, CpuIsa::kAvx512}) {
      if (isa <= detected_cpu_isa()) {
        EXPECT_EQ(run_row(kernel, row, ElementType::kBf16, {}, isa), expected)
            << kernel << cpu_isa_name(isa);
      }
    }
  }
}

TEST(RowKernels, RefuseRowsThatAreNoWholeVectors) {
  const KernelTable table = aie_kernels(GenerationId::kXdna1, CpuIsa::kScalar).value();
  const ObjectType type{{32}, ElementType::kBf16};
  std::vector<std::byte> memory(64);
  for (const int64_t n : {int64_t{0}, int64_t{8}, int64_t{24}, int64_t{48}}) {
    const Status status = table.find("softmax_row")
                              ->second.run(std::vector<KernelArgument>{
                                  {memory, &type, 0}, {memory, &type, 0}, {{}, nullptr, n}});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << n;
  }
}

TEST(MatmulInt8, IsExactOnEveryInstructionSet) {
  constexpr int64_t kM = 64, kK = 64, kN = 32;
  const ObjectType type_a{{kM, kK}, ElementType::kI8};
  const ObjectType type_b{{kK, kN}, ElementType::kI8};
  const ObjectType type_c{{kM, kN}, ElementType::kI32};
  std::mt19937 rng(2);
  std::vector<int8_t> a(kM * kK);
  std::vector<int8_t> b(kK * kN);
  for (int8_t& v : a)
    v = static_cast<int8_t>(rng());
  for (int8_t& v : b)
    v = static_cast<int8_t>(rng());
  const auto place = [](int64_t row, int64_t col, int64_t cols, int64_t r, int64_t c) {
    return static_cast<size_t>(((row / r * (cols / c) + col / c) * r + row % r) * c + col % c);
  };
  for (const CpuIsa isa : {CpuIsa::kScalar, CpuIsa::kAvx2, CpuIsa::kAvx512}) {
    if (isa > detected_cpu_isa()) continue;
    const KernelTable table = aie_kernels(GenerationId::kXdna1, isa).value();
    std::vector<int32_t> c(kM * kN, 5);
    const Status status = table.find("matmul_i8_i32")
                              ->second.run(std::vector<KernelArgument>{
                                  {std::as_writable_bytes(std::span(a)), &type_a, 0},
                                  {std::as_writable_bytes(std::span(b)), &type_b, 0},
                                  {std::as_writable_bytes(std::span(c)), &type_c, 0}});
    ASSERT_TRUE(status.ok()) << status.message();
    for (int64_t i = 0; i < kM; ++i) {
      for (int64_t j = 0; j < kN; ++j) {
        int32_t sum = 5;
        for (int64_t k = 0; k < kK; ++k)
          sum += a[place(i, k, kK, 4, 8)] * b[place(k, j, kN, 8, 8)];
        ASSERT_EQ(c[place(i, j, kN, 4, 8)], sum) << i << ", " << j;
      }
    }
  }
}

}  // namespace
}  // namespace sotto::npu
