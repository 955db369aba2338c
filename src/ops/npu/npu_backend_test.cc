// The backend over the simulated array against the CPU backend in f32, and what it does when the
// device fails.
#include "ops/npu/npu_backend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "npu/runtime/sim/sim_device.h"

namespace sotto::ops {
namespace {

namespace rt = sotto::npu::runtime;

/// Passes launches on until it is told to fail.
class FailingContext final : public rt::Context {
 public:
  FailingContext(std::unique_ptr<rt::Context> inner, const bool& fails)
      : inner_(std::move(inner)), fails_(fails) {}
  Result<rt::RunReport> run(std::span<const uint32_t> instructions,
                            std::span<rt::Buffer* const> arguments) override {
    if (fails_) return internal_error("injected failure");
    return inner_->run(instructions, arguments);
  }

 private:
  std::unique_ptr<rt::Context> inner_;
  const bool& fails_;
};
class FailingDevice final : public rt::Device {
 public:
  FailingDevice(std::unique_ptr<rt::Device> inner, const bool& fails)
      : inner_(std::move(inner)), fails_(fails) {}
  [[nodiscard]] std::string name() const override { return inner_->name(); }
  Result<std::unique_ptr<rt::Buffer>> allocate(int64_t bytes) override {
    return inner_->allocate(bytes);
  }
  Result<std::unique_ptr<rt::Context>> open(const std::string& overlay) override {
    SOTTO_ASSIGN_OR_RETURN(auto context, inner_->open(overlay));
    return std::unique_ptr<rt::Context>(
        std::make_unique<FailingContext>(std::move(context), fails_));
  }

 private:
  std::unique_ptr<rt::Device> inner_;
  const bool& fails_;
};

/// Weights as a file would hold them.
struct Tensor {
  std::vector<float> values;
  std::vector<int64_t> dims;
  [[nodiscard]] TensorView view() const {
    return {DType::kF32, dims, std::as_bytes(std::span(values)), {}};
  }
};

class NpuBackendTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const CpuIsa isa = detected_cpu_isa();
    CpuBackendOptions options{isa, ComputeType::kF32, 2};
    cpu_ = make_cpu_backend(options).value();
    auto device = rt::make_sim_device(npu_designs(), isa, 2);
    ASSERT_TRUE(device.ok()) << device.status().message();
    auto backend = make_npu_backend(
        std::make_unique<FailingDevice>(std::move(device).value(), fails_), options);
    ASSERT_TRUE(backend.ok()) << backend.status().message();
    npu_ = std::move(backend).value();
  }

  Tensor random(std::vector<int64_t> dims, double sigma) {
    std::normal_distribution<float> normal(0, static_cast<float>(sigma));
    Tensor out{{}, std::move(dims)};
    out.values.resize(static_cast<size_t>(out.view().elements()));
    for (float& v : out.values)
      v = normal(rng_);
    return out;
  }
  static LinearSource source(const Tensor& w, const Tensor& b) {
    return {"w", {w.view()}, {b.view()}, true};
  }

  /// Runs `operation(backend)` on both; the relative L2 error of the array's result.
  template <typename Operation>
  double error(Operation operation) {
    expected_ = host(*cpu_, operation(*cpu_));
    got_ = host(*npu_, operation(*npu_));
    EXPECT_EQ(got_.size(), expected_.size());
    double difference = 0;
    double size = 0;
    for (size_t i = 0; i < got_.size(); ++i) {
      difference += std::pow(double{got_[i]} - double{expected_[i]}, 2);
      size += std::pow(double{expected_[i]}, 2);
    }
    return std::sqrt(difference / size);
  }
  static std::vector<float> host(Backend& backend, const Result<Activation>& x) {
    EXPECT_TRUE(x.ok()) << x.status().message();
    if (!x.ok()) return {};
    std::vector<float> out(static_cast<size_t>(x->rows() * x->cols()));
    EXPECT_TRUE(backend.to_host(*x, out).ok());
    return out;
  }
  Activation put(Backend& backend, const Tensor& x) {
    return backend.from_host(x.values, x.dims[0], x.dims[1]).value();
  }
  [[nodiscard]] OpCounter counter(const std::string& op, const std::string& device) const {
    for (const OpCounter& c : npu_->counters()) {
      if (c.op == op && c.device == device) return c;
    }
    return {};
  }

  std::mt19937 rng_{11};
  bool fails_ = false;
  std::unique_ptr<Backend> cpu_, npu_;
  std::vector<float> expected_, got_;
};

// A product of bf16 operands differs from f32 by the operands' rounding, about 2^-9 each.
constexpr double kBf16Error = 4e-3;
constexpr double kGeluError = 6e-3;

TEST_F(NpuBackendTest, LinearWithBiasGeluAndResidual) {
  const Tensor w = random({150, 100}, 0.2);
  const Tensor b = random({150}, 0.5);
  const Tensor x = random({130, 100}, 1);
  const Tensor r = random({130, 150}, 1);
  for (const bool gelu : {false, true}) {
    const double e = error([&](Backend& backend) {
      const LinearRef weight = backend.upload_linear(source(w, b)).value();
      const Activation residual = put(backend, r);
      Epilogue epilogue;
      epilogue.gelu = gelu;
      epilogue.residual = &residual;
      return backend.linear(put(backend, x), *weight, epilogue);
    });
    EXPECT_LT(e, gelu ? kGeluError : kBf16Error);
    EXPECT_GT(e, 1e-5) << "this did not run in bf16";
  }
  EXPECT_EQ(counter("linear", "sim").calls, 2);
  EXPECT_EQ(counter("linear", "sim").fallbacks, 0);
  EXPECT_EQ(counter("linear", "cpu").calls, 0);
  EXPECT_EQ(counter("array products", "sim").calls, 2);
}

TEST_F(NpuBackendTest, TheBiasIsMorePreciseThanOneBf16) {
  // Sums near 10 out of a bias near 100, where bf16 has steps of 1/2; GELU(x) = x there.
  Tensor w{std::vector<float>(64 * 64), {64, 64}};
  Tensor b = random({64}, 2);
  for (int64_t i = 0; i < 64; ++i) {
    w.values[static_cast<size_t>(64 * i)] = -90;
    b.values[static_cast<size_t>(i)] += 100;
  }
  const Tensor x{std::vector<float>(64 * 64, 1), {64, 64}};
  error([&](Backend& backend) {
    const LinearRef weight = backend.upload_linear(source(w, b)).value();
    Epilogue epilogue;
    epilogue.gelu = true;
    return backend.linear(put(backend, x), *weight, epilogue);
  });
  for (size_t i = 0; i < 64; ++i)
    EXPECT_NEAR(got_[i], b.values[i] - 90, 0x1p-5 + 1e-3);
}

TEST_F(NpuBackendTest, ConvolutionAtBothStridesWithPositions) {
  const Tensor w = random({96, 40, 3}, 0.15);
  const Tensor b = random({96}, 0.3);
  const Tensor x = random({141, 40}, 1);
  const Tensor positions = random({200, 96}, 1);
  for (const int stride : {1, 2}) {
    const double e = error([&](Backend& backend) {
      const LinearRef weight = backend.upload_conv1d(source(w, b)).value();
      const TableRef table = backend.upload_table(positions.view()).value();
      return backend.conv1d_gelu(put(backend, x), *weight, stride,
                                 stride == 2 ? table.get() : nullptr);
    });
    EXPECT_LT(e, kGeluError);
  }
  EXPECT_EQ(counter("conv1d", "sim").fallbacks, 0);
}

TEST_F(NpuBackendTest, MlpInOneLaunch) {
  const Tensor w1 = random({300, 96}, 0.12);
  const Tensor b1 = random({300}, 0.5);
  const Tensor w2 = random({96, 300}, 0.06);
  const Tensor b2 = random({96}, 0.5);
  const Tensor x = random({200, 96}, 1);
  const double e = error([&](Backend& backend) {
    const LinearRef up = backend.upload_linear(source(w1, b1)).value();
    const LinearRef down = backend.upload_linear(source(w2, b2)).value();
    return backend.mlp(put(backend, x), *up, *down, put(backend, x));
  });
  EXPECT_LT(e, kBf16Error);
  EXPECT_EQ(counter("mlp", "sim").calls, 1);
  EXPECT_EQ(counter("mlp", "sim").fallbacks, 0);
}

class NpuAttentionTest : public NpuBackendTest {
 protected:
  static constexpr int64_t kRows = 300, kHeads = 3, kDim = 64, kWidth = kHeads * kDim;
  /// q, k and v with the standard deviations given.
  Tensor qkv(double q, double k, double v, int64_t rows = kRows) {
    Tensor out = random({rows, 3 * kWidth}, 1);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < 3 * kWidth; ++j) {
        const double sigma = j < kWidth ? q : j < 2 * kWidth ? k : v;
        out.values[static_cast<size_t>(i * 3 * kWidth + j)] *= static_cast<float>(sigma);
      }
    }
    return out;
  }
  double attend(const Tensor& x, int windows = 1) {
    return error([&](Backend& backend) {
      return backend.self_attention(put(backend, x), static_cast<int>(kHeads), windows);
    });
  }
};

// Rows that pad the array's shape, heads in the wrong place or stale buffers would all show here.
TEST_F(NpuAttentionTest, RandomScoresOfEverySharpness) {
  for (const double sharpness : {0.3, 1.0, 2.0}) {
    EXPECT_LT(attend(qkv(sharpness, sharpness, 1)), 1.2e-2) << sharpness;
    EXPECT_LT(attend(qkv(sharpness, sharpness, 1, 80)), 1.2e-2) << sharpness;
  }
  EXPECT_LT(attend(qkv(1, 1, 1, 600), 2), 1.2e-2);
  EXPECT_EQ(counter("self_attention", "sim").fallbacks, 0);
}

TEST_F(NpuAttentionTest, ZeroKeysGiveTheMeanOfTheValues) {
  Tensor x = qkv(1, 0, 1);
  attend(x);
  for (int64_t j = 0; j < kWidth; ++j) {
    double mean = 0;
    for (int64_t i = 0; i < kRows; ++i)
      mean += double{x.values[static_cast<size_t>(i * 3 * kWidth + 2 * kWidth + j)]} / kRows;
    ASSERT_NEAR(got_[static_cast<size_t>(j)], mean, 1e-3);
    ASSERT_EQ(got_[static_cast<size_t>((kRows - 1) * kWidth + j)], got_[static_cast<size_t>(j)]);
  }
}

TEST_F(NpuAttentionTest, ValuesOfOneStayOne) {
  Tensor x = qkv(1, 1, 0);
  for (int64_t i = 0; i < kRows; ++i)
    std::fill_n(x.values.begin() + i * 3 * kWidth + 2 * kWidth, kWidth, 1.0F);
  attend(x);
  for (const float v : got_)
    ASSERT_EQ(v, 1);
}

TEST_F(NpuAttentionTest, ScoresBeyondExpFallBackAndSayWhy) {
  EXPECT_LT(attend(qkv(6, 6, 1)), 1e-6) << "the CPU's result";
  const OpCounter sim = counter("self_attention", "sim");
  EXPECT_EQ(sim.fallbacks, 1);
  EXPECT_NE(sim.fallback_reason.find("beyond the range of exp"), std::string::npos);
}

TEST_F(NpuAttentionTest, AFailureOfAnyOperationIsDoneByTheCpuCountedAndNamed) {
  const Tensor w = random({kWidth, kWidth}, 0.1);
  const Tensor conv = random({kWidth, kWidth, 3}, 0.1);
  const Tensor b = random({kWidth}, 0.5);
  const Tensor x = random({kRows, kWidth}, 1);
  const Tensor attended = qkv(1, 1, 1);
  const auto every_operation = [&](const std::function<void(const char*, double)>& check) {
    check("linear", error([&](Backend& backend) {
            return backend.linear(put(backend, x), *backend.upload_linear(source(w, b)).value(),
                                  {});
          }));
    check("conv1d", error([&](Backend& backend) {
            return backend.conv1d_gelu(put(backend, x),
                                       *backend.upload_conv1d(source(conv, b)).value(), 1, nullptr);
          }));
    check("mlp", error([&](Backend& backend) {
            const LinearRef weight = backend.upload_linear(source(w, b)).value();
            return backend.mlp(put(backend, x), *weight, *weight, put(backend, x));
          }));
    check("self_attention", attend(attended));
  };
  fails_ = true;
  every_operation([&](const char* op, double e) {
    EXPECT_LT(e, 1e-6) << op;
    EXPECT_EQ(counter(op, "sim").fallbacks, 1) << op;
    EXPECT_EQ(counter(op, "sim").fallback_reason, "sim: injected failure") << op;
    EXPECT_EQ(counter(op, "cpu").calls, 1) << op;
  });
  // And the array is opened again afterwards.
  fails_ = false;
  every_operation([&](const char* op, double e) {
    EXPECT_GT(e, 1e-5) << op;
    EXPECT_LT(e, 2e-2) << op;
    EXPECT_EQ(counter(op, "sim").calls, 2) << op;
    EXPECT_EQ(counter(op, "sim").fallbacks, 1) << op;
  });
}

TEST_F(NpuBackendTest, WeightsOfAnotherBackendAreRefused) {
  const Tensor w = random({64, 64}, 1);
  const LinearRef foreign = cpu_->upload_linear(source(w, random({64}, 1))).value();
  EXPECT_EQ(npu_->linear(put(*npu_, w), *foreign, {}).status().code(),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sotto::ops
