#include "kernels/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "kernels/kernel_table.h"
#include "kernels/testing/kernel_testing.h"

namespace sotto::kernels {
namespace {

using testing::Random;
using testing::Shifted;

constexpr double kEpsilon = 0x1p-24;

// One problem in every form: exact values for the oracle, stored codes for the kernel.
struct Problem {
  GemmType type;
  int64_t m, n, k, lda;
  std::vector<double> a, w;      // [m, k], [n, k]: the values the codes stand for
  std::vector<uint8_t> a_codes;  // [m, lda] elements of the type, one element off alignment
  std::vector<uint8_t> packed;
  std::vector<float> a_scale, w_scale;
  std::vector<int32_t> a_zero, w_sum;
  Shifted<float> bias, residual;

  Problem(const KernelTable& table, GemmType t, int64_t m_, int64_t n_, int64_t k_)
      : type(t), m(m_), n(n_), k(k_), lda(k_ + 8), bias(n_), residual(m_ * (n_ + 3)) {
    Random random(static_cast<uint32_t>(m * 7919 + n * 104729 + k));
    random.fill(bias);
    random.fill(residual);
    a.resize(static_cast<size_t>(m * k));
    w.resize(static_cast<size_t>(n * k));
    a_codes.resize(static_cast<size_t>(m * lda * 4 + 4));
    std::vector<uint8_t> w_codes(static_cast<size_t>(n * k * 4));
    for (int64_t i = 0; i < m; ++i) {
      a_scale.push_back(0.01f * static_cast<float>(random.uniform(1, 9)));
      a_zero.push_back(static_cast<int32_t>(random.uniform(0, 255)));
      for (int64_t j = 0; j < k; ++j) {
        a[static_cast<size_t>(i * k + j)] =
            put(a_codes.data() + element_bytes(), i * lda + j, random, false, i);
      }
    }
    for (int64_t i = 0; i < n; ++i) {
      w_scale.push_back(0.01f * static_cast<float>(random.uniform(1, 9)));
      int32_t sum = 0;
      for (int64_t j = 0; j < k; ++j) {
        w[static_cast<size_t>(i * k + j)] = put(w_codes.data(), i * k + j, random, true, i);
        sum += type == GemmType::kInt8
                   ? static_cast<int8_t>(w_codes[static_cast<size_t>(i * k + j)])
                   : 0;
      }
      w_sum.push_back(sum);
    }
    const int64_t cols = table.gemm(type).tile_cols;
    const int64_t words = k / gemm_depth(type);
    packed.resize(static_cast<size_t>((n + cols - 1) / cols * cols * words * 4));
    for (int64_t j = 0; j < n; j += cols) {
      table.pack.words(reinterpret_cast<const uint32_t*>(w_codes.data()) + j * words, words,
                       std::min(cols, n - j), words, cols,
                       reinterpret_cast<uint32_t*>(packed.data()) + j * words);
    }
  }

  [[nodiscard]] int64_t element_bytes() const { return 4 / gemm_depth(type); }

  // Stores a random code and returns its exact value.
  double put(uint8_t* codes, int64_t at, Random& random, bool weight, int64_t row) {
    const auto r = static_cast<size_t>(row);
    if (type == GemmType::kF32) {
      const float v = random.normal();
      std::memcpy(codes + at * 4, &v, 4);
      return v;
    }
    if (type == GemmType::kBf16) {
      const Bf16 v = to_bf16(random.normal());
      std::memcpy(codes + at * 2, &v, 2);
      return to_float(v);
    }
    // The extremes often: saturating instructions would show there.
    const bool extreme = random.uniform(0, 2) == 0;
    if (weight) {
      const int64_t v =
          extreme ? (random.uniform(0, 1) == 0 ? -127 : 127) : random.uniform(-127, 127);
      codes[at] = static_cast<uint8_t>(static_cast<int8_t>(v));
      return static_cast<double>(v) * w_scale[r];
    }
    const int64_t v = extreme ? 255 : random.uniform(0, 255);
    codes[at] = static_cast<uint8_t>(v);
    return static_cast<double>(v - a_zero[r]) * a_scale[r];
  }

  [[nodiscard]] GemmArgs args() {
    GemmArgs args;
    args.m = m;
    args.n = n;
    args.k = k;
    args.a = a_codes.data() + element_bytes();
    args.lda = lda;
    args.w = packed.data();
    args.a_scale = a_scale.data();
    args.a_zero = a_zero.data();
    args.w_scale = w_scale.data();
    args.w_sum = w_sum.data();
    return args;
  }
};

double exact_gelu(double x) {
  return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
}

void check(const KernelTable& table, GemmType type, int64_t m, int64_t n, int64_t k,
           bool epilogue) {
  SCOPED_TRACE(::testing::Message()
               << table.gemm(type).name << " m=" << m << " n=" << n << " k=" << k);
  Problem p(table, type, m, n, k);
  const int64_t ldc = n + 3;
  Shifted<float> c(m * ldc);
  Shifted<uint16_t> c16(m * ldc);
  GemmArgs args = p.args();
  args.c = c.data();
  args.ldc = ldc;
  args.c16 = c16.data();
  args.ldc16 = ldc;
  if (epilogue) {
    args.bias = p.bias.data();
    args.gelu = true;
    args.residual = p.residual.data();
    args.ld_residual = ldc;
  }
  std::unique_ptr<void, decltype(&std::free)> scratch(
      std::aligned_alloc(64, static_cast<size_t>((gemm_scratch_bytes(type, m, k) + 63) / 64 * 64)),
      &std::free);
  args.scratch = scratch.get();
  table.gemm(type).run(args);

  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      double norm = 0;
      for (int64_t l = 0; l < k; ++l) {
        const double term =
            p.a[static_cast<size_t>(i * k + l)] * p.w[static_cast<size_t>(j * k + l)];
        sum += term;
        norm += std::fabs(term);
      }
      const int64_t at = i * ldc + j;
      double tolerance =
          (type == GemmType::kInt8 ? 4.0 : 2.0 * static_cast<double>(k + 2)) * kEpsilon * norm;
      if (epilogue) {
        const double x = sum + p.bias[j];
        sum = exact_gelu(x) + p.residual[at];
        tolerance = 1.2 * tolerance + 1e-6 * std::max(1.0, std::fabs(x)) +
                    2 * kEpsilon * std::fabs(p.residual[at]);
      }
      ASSERT_NEAR(c[at], sum, tolerance) << "row " << i << " column " << j;
      ASSERT_NEAR(to_float(Bf16{c16[at]}), c[at], 0x1p-8 * std::fabs(c[at]));
    }
    for (int64_t j = n; j < ldc; ++j)
      ASSERT_EQ(c[i * ldc + j], 77.0f) << "wrote beyond the row";
  }
  EXPECT_TRUE(c.guards_intact());
  EXPECT_TRUE(c16.guards_intact());
}

class Gemm : public ::testing::TestWithParam<CpuIsa> {};

TEST_P(Gemm, MatchesExactProductOnOddShapes) {
  const KernelTable& table = kernel_table(GetParam());
  for (GemmType type : {GemmType::kF32, GemmType::kBf16, GemmType::kInt8}) {
    for (int64_t m : {1, 2, 3, 5, 6, 7, 11, 12, 13, 29}) {
      for (int64_t n : {1, 15, 16, 17, 31, 33, 64, 97})
        check(table, type, m, n, 36, true);
    }
    for (int64_t k : {4, 8, 20, 60, 64, 68, 500, 2048})
      check(table, type, 14, 37, k, k % 8 == 0);
  }
}

// With scale 1 and sums below 2^24 the f32 result is the integer itself: any lost bit or saturation
// shows.
TEST_P(Gemm, Int8SumsAreExact) {
  const KernelTable& table = kernel_table(GetParam());
  for (int64_t m : {1, 4, 12, 17}) {
    Problem p(table, GemmType::kInt8, m, 45, 256);
    p.a_scale.assign(static_cast<size_t>(m), 1.0f);
    p.w_scale.assign(45, 1.0f);
    GemmArgs args = p.args();
    std::vector<float> c(static_cast<size_t>(m * 45));
    std::vector<int64_t> scratch(
        static_cast<size_t>(gemm_scratch_bytes(GemmType::kInt8, m, 256) / 8 + 8));
    args.scratch =
        reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
    args.c = c.data();
    args.ldc = 45;
    table.gemm_int8.run(args);
    std::vector<int8_t> w(45 * 256);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < 45; ++j) {
        int64_t sum = 0;
        for (int64_t l = 0; l < 256; ++l) {
          const int64_t code =
              p.a_codes[static_cast<size_t>(1 + i * p.lda + l)] - p.a_zero[static_cast<size_t>(i)];
          const int64_t cols = table.gemm_int8.tile_cols;
          const int64_t at = ((j / cols * 64 + l / 4) * cols + j % cols) * 4 + l % 4;
          sum += code * static_cast<int8_t>(p.packed[static_cast<size_t>(at)]);
        }
        ASSERT_EQ(c[static_cast<size_t>(i * 45 + j)], static_cast<float>(sum));
      }
    }
  }
}

TEST_P(Gemm, RowsMayOverlap) {
  const KernelTable& table = kernel_table(GetParam());
  Problem p(table, GemmType::kF32, 1, 20, 24);
  Shifted<float> x(8 * 16);
  Random(3).fill(x);
  std::vector<float> c(13 * 20);
  std::vector<int64_t> scratch(
      static_cast<size_t>(gemm_scratch_bytes(GemmType::kF32, 13, 24) / 8 + 8));
  GemmArgs args = p.args();
  args.m = 13;
  args.a = x.data();
  args.lda = 8;
  args.c = c.data();
  args.ldc = 20;
  args.scratch =
      reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
  table.gemm_f32.run(args);
  for (int64_t i = 0; i < 13; ++i) {
    for (int64_t j = 0; j < 20; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < 24; ++l)
        sum += x[i * 8 + l] * p.w[static_cast<size_t>(j * 24 + l)];
      ASSERT_NEAR(c[static_cast<size_t>(i * 20 + j)], sum, 1e-4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, Gemm, ::testing::ValuesIn(testing::usable_isas()),
                         testing::isa_label);

}  // namespace
}  // namespace sotto::kernels
