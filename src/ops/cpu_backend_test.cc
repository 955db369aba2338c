#include "ops/cpu_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <tuple>

#include "base/float16.h"

namespace sotto::ops {
namespace {

using Values = std::vector<double>;

// A matrix as a model file holds it (f32) and as the oracle reads it.
struct Tensor {
  std::vector<int64_t> dims;
  std::vector<float> data;

  [[nodiscard]] TensorView view() const {
    TensorView v;
    v.dims = dims;
    v.bytes = std::as_bytes(std::span(data));
    return v;
  }
  [[nodiscard]] double at(int64_t i) const { return data[static_cast<size_t>(i)]; }
};

Tensor random_tensor(std::vector<int64_t> dims, float scale, uint32_t seed) {
  Tensor t{std::move(dims), {}};
  int64_t n = 1;
  for (int64_t d : t.dims)
    n *= d;
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0, scale);
  for (int64_t i = 0; i < n; ++i)
    t.data.push_back(normal(engine));
  return t;
}

double gelu(double x) {
  return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
}

Values product(const Values& x, int64_t rows, const Tensor& w, const Tensor* bias) {
  const int64_t out = w.dims[0];
  const int64_t in = static_cast<int64_t>(w.data.size()) / out;
  Values y(static_cast<size_t>(rows * out));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < out; ++j) {
      double sum = bias != nullptr ? bias->at(j) : 0.0;
      for (int64_t k = 0; k < in; ++k)
        sum += x[static_cast<size_t>(i * in + k)] * w.at(j * in + k);
      y[static_cast<size_t>(i * out + j)] = sum;
    }
  }
  return y;
}

// softmax(q k^T / sqrt(dim)) v for one query against `n` keys `stride` apart; returns the
// probabilities.
Values attend(const double* q, const double* k, const double* v, int64_t n, int64_t stride,
              int64_t dim, double* out) {
  Values p(static_cast<size_t>(n));
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    double score = 0;
    for (int64_t j = 0; j < dim; ++j)
      score += q[j] * k[i * stride + j];
    p[static_cast<size_t>(i)] = std::exp(score / std::sqrt(static_cast<double>(dim)));
    sum += p[static_cast<size_t>(i)];
  }
  std::fill_n(out, dim, 0.0);
  for (int64_t i = 0; i < n; ++i) {
    p[static_cast<size_t>(i)] /= sum;
    for (int64_t j = 0; j < dim; ++j)
      out[j] += p[static_cast<size_t>(i)] * v[i * stride + j];
  }
  return p;
}

using Setting = std::tuple<CpuIsa, ComputeType, int>;

class CpuBackendTest : public testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    CpuBackendOptions options;
    std::tie(options.isa, options.compute, options.threads) = GetParam();
    Result<std::unique_ptr<Backend>> made = make_cpu_backend(options);
    ASSERT_TRUE(made.ok()) << made.status().message();
    backend_ = std::move(*made);
  }

  // Allowed error relative to the root mean square of the expected values.
  [[nodiscard]] static double tolerance() {
    switch (std::get<1>(GetParam())) {
      case ComputeType::kBf16:
        return 0.03;
      case ComputeType::kInt8:
        return 0.06;
      default:
        return 2e-5;
    }
  }

  Activation put(const Tensor& t) {
    const int64_t cols = static_cast<int64_t>(t.data.size()) / t.dims[0];
    Result<Activation> x = backend_->from_host(t.data, t.dims[0], cols);
    EXPECT_TRUE(x.ok());
    return *x;
  }

  LinearRef upload(const Tensor& w, const Tensor* bias = nullptr, bool feed_forward = false) {
    LinearSource source{"w", {w.view()}, {}, feed_forward, feed_forward};
    if (bias != nullptr) source.biases.push_back(bias->view());
    Result<LinearRef> made =
        w.dims.size() == 3 ? backend_->upload_conv1d(source) : backend_->upload_linear(source);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return *made;
  }

  Values get(const Result<Activation>& x) {
    EXPECT_TRUE(x.ok()) << x.status().message();
    if (!x.ok()) return {};
    std::vector<float> out(static_cast<size_t>(x->rows() * x->cols()));
    EXPECT_TRUE(backend_->to_host(*x, out).ok());
    return Values(out.begin(), out.end());
  }

  static void expect_close(const Values& got, const Values& want, double factor = 1) {
    ASSERT_EQ(got.size(), want.size());
    double square = 0;
    for (double v : want)
      square += v * v;
    const double limit =
        factor * tolerance() * std::sqrt(square / static_cast<double>(want.size())) + 1e-6;
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], want[i], limit) << "value " << i;
  }

  static Values values(const Tensor& t) { return Values(t.data.begin(), t.data.end()); }

  std::unique_ptr<Backend> backend_;
};

TEST_P(CpuBackendTest, LinearWithEpilogue) {
  for (const auto& [rows, in, out] :
       {std::tuple(1, 64, 48), std::tuple(5, 100, 77), std::tuple(150, 52, 130)}) {
    const Tensor x = random_tensor({rows, in}, 1, 1);
    const Tensor w = random_tensor({out, in}, 0.1f, 2);
    const Tensor bias = random_tensor({out}, 1, 3);
    const Tensor residual = random_tensor({rows, out}, 1, 4);
    const LinearRef weight = upload(w, &bias);
    Values want = product(values(x), rows, w, &bias);
    expect_close(get(backend_->linear(put(x), *weight, {})), want);
    Epilogue narrow;
    narrow.feeds_products = true;
    expect_close(get(backend_->linear(put(x), *weight, narrow)), want);
    const Activation r = put(residual);
    Epilogue epilogue;
    epilogue.gelu = true;
    epilogue.residual = &r;
    for (size_t i = 0; i < want.size(); ++i)
      want[i] = gelu(want[i]) + residual.data[i];
    expect_close(get(backend_->linear(put(x), *weight, epilogue)), want);
  }
}

TEST_P(CpuBackendTest, PartsAreStackedAndMissingBiasesAreZero) {
  const Tensor q = random_tensor({40, 32}, 0.2f, 1);
  const Tensor k = random_tensor({24, 32}, 0.2f, 2);
  const Tensor bias = random_tensor({24}, 1, 3);
  const Tensor x = random_tensor({3, 32}, 1, 4);
  LinearSource source{"qk", {q.view(), k.view()}, {TensorView{}, bias.view()}, false};
  Result<LinearRef> weight = backend_->upload_linear(source);
  ASSERT_TRUE(weight.ok()) << weight.status().message();
  Tensor both{{64, 32}, q.data};
  both.data.insert(both.data.end(), k.data.begin(), k.data.end());
  Tensor all_bias{{64}, std::vector<float>(40)};
  all_bias.data.insert(all_bias.data.end(), bias.data.begin(), bias.data.end());
  expect_close(get(backend_->linear(put(x), **weight, {})), product(values(x), 3, both, &all_bias));
}

TEST_P(CpuBackendTest, Mlp) {
  for (int rows : {3, 200}) {
    const Tensor x = random_tensor({rows, 32}, 1, 1);
    const Tensor w1 = random_tensor({128, 32}, 0.2f, 2);
    const Tensor b1 = random_tensor({128}, 0.5f, 3);
    const Tensor w2 = random_tensor({32, 128}, 0.2f, 4);
    const Tensor b2 = random_tensor({32}, 0.5f, 5);
    const Tensor residual = random_tensor({rows, 32}, 1, 6);
    Values hidden = product(values(x), rows, w1, &b1);
    for (double& v : hidden)
      v = gelu(v);
    Values want = product(hidden, rows, w2, &b2);
    for (size_t i = 0; i < want.size(); ++i)
      want[i] += residual.data[i];
    for (bool feed_forward : {false, true}) {
      const LinearRef first = upload(w1, &b1, feed_forward);
      const LinearRef second = upload(w2, &b2, feed_forward);
      expect_close(get(backend_->mlp(put(x), *first, *second, put(residual))), want);
    }
  }
}

// One scale a row, 1000 / 255, would round the values that count to nothing.
TEST_P(CpuBackendTest, SmallInputsBesideALargeOneCountInFeedForward) {
  Tensor x = random_tensor({20, 64}, 1, 1);
  Tensor w = random_tensor({16, 64}, 0.5f, 2);
  for (size_t row = 0; row < 20; ++row)
    x.data[row * 64] = 1000;
  for (size_t row = 0; row < 16; ++row)
    w.data[row * 64] = 0;
  expect_close(get(backend_->linear(put(x), *upload(w, nullptr, true), {})),
               product(values(x), 20, w, nullptr));
}

TEST_P(CpuBackendTest, Conv1dWithStrideAndTable) {
  for (const auto& [rows, in, stride] :
       {std::tuple(9, 16, 1), std::tuple(100, 16, 2), std::tuple(7, 5, 2)}) {
    const int64_t out = 24;
    const int64_t out_rows = (rows + stride - 1) / stride;
    const Tensor x = random_tensor({rows, in}, 1, 1);
    const Tensor w = random_tensor({out, in, 3}, 0.2f, 2);
    const Tensor bias = random_tensor({out}, 1, 3);
    const Tensor table = random_tensor({out_rows + 2, out}, 1, 4);
    Values want;
    for (int64_t t = 0; t < out_rows; ++t) {
      for (int64_t o = 0; o < out; ++o) {
        double sum = bias.at(o);
        for (int64_t s = 0; s < 3; ++s) {
          const int64_t row = t * stride + s - 1;
          for (int64_t i = 0; row >= 0 && row < rows && i < in; ++i)
            sum += x.at(row * in + i) * w.at((o * in + i) * 3 + s);
        }
        want.push_back(gelu(sum));
      }
    }
    const LinearRef weight = upload(w, &bias);
    expect_close(get(backend_->conv1d_gelu(put(x), *weight, stride, nullptr)), want);
    Result<TableRef> added = backend_->upload_table(table.view());
    ASSERT_TRUE(added.ok());
    for (size_t i = 0; i < want.size(); ++i)
      want[i] += table.data[i];
    expect_close(get(backend_->conv1d_gelu(put(x), *weight, stride, added->get())), want);
  }
}

TEST_P(CpuBackendTest, TwoConvolutionsInARow) {
  const Tensor x = random_tensor({50, 16}, 1, 1);
  const Tensor w1 = random_tensor({32, 16, 3}, 0.2f, 2);
  const Tensor w2 = random_tensor({32, 32, 3}, 0.2f, 3);
  const LinearRef second = upload(w2);
  Result<Activation> hidden = backend_->conv1d_gelu(put(x), *upload(w1), 1, nullptr);
  const Values h = get(hidden);
  Tensor copy{{50, 32}, std::vector<float>(h.begin(), h.end())};
  expect_close(get(backend_->conv1d_gelu(*hidden, *second, 2, nullptr)),
               get(backend_->conv1d_gelu(put(copy), *second, 2, nullptr)), 0.1);
}

TEST_P(CpuBackendTest, LayerNorm) {
  const int64_t cols = 70;
  const Tensor x = random_tensor({30, cols}, 3, 1);
  const Tensor gamma = random_tensor({cols}, 1, 2);
  const Tensor beta = random_tensor({cols}, 1, 3);
  Result<NormRef> norm = backend_->upload_norm(gamma.view(), beta.view());
  ASSERT_TRUE(norm.ok());
  Values want;
  for (int64_t i = 0; i < 30; ++i) {
    double mean = 0;
    double variance = 0;
    for (int64_t j = 0; j < cols; ++j)
      mean += x.at(i * cols + j) / static_cast<double>(cols);
    for (int64_t j = 0; j < cols; ++j)
      variance += std::pow(x.at(i * cols + j) - mean, 2) / static_cast<double>(cols);
    for (int64_t j = 0; j < cols; ++j) {
      want.push_back((x.at(i * cols + j) - mean) / std::sqrt(variance + 1e-5) * gamma.at(j) +
                     beta.at(j));
    }
  }
  expect_close(get(backend_->layer_norm(put(x), **norm)), want);
}

TEST_P(CpuBackendTest, SelfAttentionStaysInsideItsWindow) {
  for (const auto& [t, heads, dim, windows] :
       {std::tuple(37, 2, 16, 1), std::tuple(33, 3, 8, 2), std::tuple(300, 1, 64, 1)}) {
    const int64_t d = heads * dim;
    const Tensor qkv = random_tensor({windows * t, 3 * d}, 1, 1);
    const Values in = values(qkv);
    Values want(static_cast<size_t>(windows * t * d));
    for (int64_t i = 0; i < windows * t; ++i) {
      for (int64_t h = 0; h < heads; ++h) {
        const double* window = in.data() + i / t * t * 3 * d + h * dim;
        attend(in.data() + i * 3 * d + h * dim, window + d, window + 2 * d, t, 3 * d, dim,
               want.data() + i * d + h * dim);
      }
    }
    // The average of many values is smaller than what was rounded on the way to it.
    expect_close(get(backend_->self_attention(put(qkv), heads, windows)), want, 2);
  }
}

TEST_P(CpuBackendTest, CrossAttentionReadsEachRowsOwnSource) {
  const int64_t d = 32;
  const int heads = 2;
  const Tensor w = random_tensor({2 * d, d}, 0.2f, 1);
  const Tensor bias = random_tensor({2 * d}, 0.2f, 2);
  const std::vector<LinearRef> layers = {upload(random_tensor({2 * d, d}, 0.2f, 9)),
                                         upload(w, &bias)};
  const Tensor sources[2] = {random_tensor({41, d}, 1, 3), random_tensor({41, d}, 1, 4)};
  Result<CrossKvRef> kv[2] = {backend_->cross_kv(put(sources[0]), layers, heads),
                              backend_->cross_kv(put(sources[1]), layers, heads)};
  ASSERT_TRUE(kv[0].ok() && kv[1].ok());
  const Tensor q = random_tensor({5, d}, 1, 5);
  const Values queries = values(q);
  const int which[5] = {0, 0, 1, 1, 0};
  std::vector<const CrossKv*> views;
  Values want(5 * 32);
  Values probabilities;
  for (int64_t i = 0; i < 5; ++i) {
    views.push_back(kv[which[i]]->get());
    const Values both = product(values(sources[which[i]]), 41, w, &bias);
    for (int64_t h = 0; h < heads; ++h) {
      const Values p =
          attend(queries.data() + i * d + h * 16, both.data() + h * 16, both.data() + d + h * 16,
                 41, 2 * d, 16, want.data() + i * d + h * 16);
      if (h == 1) probabilities.insert(probabilities.end(), p.begin(), p.end());
    }
  }
  AttentionProbe probe;
  probe.heads = {1};
  expect_close(get(backend_->cross_attention(put(q), views, 1, heads, &probe)), want, 3);
  expect_close(Values(probe.out.begin(), probe.out.end()), probabilities, 3);
  expect_close(get(backend_->cross_attention(put(q), views, 1, heads, nullptr)), want, 3);
}

// Prompts of two sequences, then single steps of beams that exchange their histories.
TEST_P(CpuBackendTest, CachedAttentionFollowsReorderedBeams) {
  const int64_t dim = 16;
  const int heads = 2;
  const int64_t d = dim * heads;
  Result<std::unique_ptr<KvCache>> cache = backend_->create_kv_cache({2, heads, dim, 12, 4});
  ASSERT_TRUE(cache.ok());
  std::vector<std::vector<Values>> history(4);  // qkv rows of each slot so far
  uint32_t seed = 1;
  const auto step = [&](const std::vector<TokenRow>& rows) {
    const Tensor qkv = random_tensor({static_cast<int64_t>(rows.size()), 3 * d}, 1, seed++);
    Values want(rows.size() * static_cast<size_t>(d));
    for (size_t i = 0; i < rows.size(); ++i) {
      auto& past = history[static_cast<size_t>(rows[i].sequence)];
      ASSERT_EQ(static_cast<int64_t>(past.size()), rows[i].position);
      const auto* row = qkv.data.data() + i * static_cast<size_t>(3 * d);
      past.emplace_back(row, row + 3 * d);
      Values flat;
      for (const Values& v : past)
        flat.insert(flat.end(), v.begin(), v.end());
      for (int64_t h = 0; h < heads; ++h) {
        attend(past.back().data() + h * dim, flat.data() + d + h * dim,
               flat.data() + 2 * d + h * dim, static_cast<int64_t>(past.size()), 3 * d, dim,
               want.data() + static_cast<int64_t>(i) * d + h * dim);
      }
    }
    expect_close(get(backend_->cached_attention(put(qkv), **cache, 1, rows, heads)), want);
  };
  const auto reorder = [&](std::vector<int> parents, int64_t length) {
    ASSERT_TRUE((*cache)->reorder(parents, length).ok());
    const auto old = history;
    for (size_t i = 0; i < parents.size(); ++i)
      history[i] = old[static_cast<size_t>(parents[i])];
  };
  step({{0, 0}, {0, 1}, {0, 2}, {2, 0}, {2, 1}, {2, 2}});
  reorder({0, 0, 2, 2}, 3);
  step({{0, 3}, {1, 3}, {2, 3}, {3, 3}});
  reorder({1, 0, 3, 3}, 4);
  step({{0, 4}, {1, 4}, {2, 4}, {3, 4}});
  reorder({1, 1, 2, 2}, 5);
  step({{3, 5}, {0, 5}});
  (*cache)->clear();
  history.assign(4, {});
  step({{1, 0}, {1, 1}});
}

TEST_P(CpuBackendTest, EmbedAddsPositionsAndGatherPicksRows) {
  const Tensor tokens = random_tensor({20, 24}, 1, 1);
  const Tensor positions = random_tensor({8, 24}, 1, 2);
  Result<TableRef> table = backend_->upload_table(tokens.view());
  Result<TableRef> added = backend_->upload_table(positions.view());
  ASSERT_TRUE(table.ok() && added.ok());
  const std::vector<int> ids = {19, 0, 7};
  const std::vector<TokenRow> rows = {{0, 7}, {1, 0}, {2, 3}};
  Values want;
  for (size_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 24; ++j)
      want.push_back(tokens.at(ids[i] * 24 + j) + positions.at(rows[i].position * 24 + j));
  }
  Result<Activation> x = backend_->embed(**table, ids, added->get(), rows);
  expect_close(get(x), want);
  const std::vector<int64_t> indices = {2, 2, 0};
  Values picked;
  for (int64_t i : indices)
    picked.insert(picked.end(), want.begin() + i * 24, want.begin() + (i + 1) * 24);
  expect_close(get(backend_->gather_rows(*x, indices)), picked);
  // Rows that a layer norm left in the precision of products.
  const Tensor one{{24}, std::vector<float>(24, 1.0f)};
  Result<NormRef> norm = backend_->upload_norm(one.view(), {});
  ASSERT_TRUE(norm.ok());
  Result<Activation> y = backend_->layer_norm(*x, **norm);
  const Values all = get(y);
  Values some;
  for (int64_t i : indices)
    some.insert(some.end(), all.begin() + i * 24, all.begin() + (i + 1) * 24);
  EXPECT_EQ(get(backend_->gather_rows(*y, indices)), some);
}

TEST_P(CpuBackendTest, CountersTellWhatRan) {
  const Tensor x = random_tensor({4, 32}, 1, 1);
  const LinearRef w = upload(random_tensor({16, 32}, 1, 2));
  EXPECT_TRUE(backend_->counters().empty());
  get(backend_->linear(put(x), *w, {}));
  get(backend_->linear(put(x), *w, {}));
  const std::vector<OpCounter> counters = backend_->counters();
  ASSERT_EQ(counters.size(), 1U);
  EXPECT_EQ(counters[0].op, "linear");
  EXPECT_EQ(counters[0].device, "cpu");
  EXPECT_EQ(counters[0].type, backend_->measure_profile().compute);
  EXPECT_EQ(counters[0].calls, 2);
  EXPECT_EQ(counters[0].flops, 2 * 2.0 * 4 * 16 * 32);
  EXPECT_GT(counters[0].seconds, 0);
  EXPECT_EQ(counters[0].fallbacks, 0);
  backend_->reset_counters();
  EXPECT_TRUE(backend_->counters().empty());
}

TEST_P(CpuBackendTest, PeaksAreMeasuredForEveryType) {
  const DeviceProfile profile = backend_->measure_profile();
  EXPECT_GE(profile.threads, 1);
  ASSERT_EQ(profile.peak_gflops.size(), 3U);
  for (const auto& [type, gflops] : profile.peak_gflops)
    EXPECT_GT(gflops, 0) << type;
}

TEST_P(CpuBackendTest, WrongShapesAreErrorsNotCrashes) {
  const Tensor x = random_tensor({4, 32}, 1, 1);
  const LinearRef w = upload(random_tensor({16, 30}, 1, 2));
  const Activation in = put(x);
  const auto code = [](const auto& result) { return result.status().code(); };
  EXPECT_EQ(code(backend_->linear(in, *w, {})), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(backend_->linear(Activation(), *w, {})), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(backend_->self_attention(in, 3, 1)), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(backend_->self_attention(in, 0, 1)), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(backend_->gather_rows(in, std::vector<int64_t>{4})), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(backend_->from_host(x.data, 5, 32)), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(backend_->create_kv_cache({1, 1, 16, 0, 1})), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(backend_->create_kv_cache({1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20})),
            StatusCode::kInvalidArgument);
  Result<std::unique_ptr<KvCache>> cache = backend_->create_kv_cache({1, 2, 16, 4, 2});
  ASSERT_TRUE(cache.ok());
  EXPECT_FALSE((*cache)->reorder(std::vector<int>{2}, 1).ok());
  EXPECT_FALSE((*cache)->reorder(std::vector<int>{0, 1, 0}, 1).ok());
  const Activation qkv = put(random_tensor({1, 96}, 1, 3));
  EXPECT_EQ(code(backend_->cached_attention(qkv, **cache, 0, std::vector<TokenRow>{{0, 4}}, 2)),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(code(backend_->cached_attention(qkv, **cache, 1, std::vector<TokenRow>{{0, 0}}, 2)),
            StatusCode::kInvalidArgument);
}

TEST_P(CpuBackendTest, BrokenWeightsAreRefused) {
  Tensor w = random_tensor({16, 32}, 1, 1);
  TensorView view = w.view();
  view.bytes = view.bytes.first(100);
  EXPECT_EQ(backend_->upload_linear({"cut", {view}, {}}).status().code(), StatusCode::kCorrupt);
  view = w.view();
  view.dtype = DType::kI32;
  EXPECT_EQ(backend_->upload_linear({"ints", {view}, {}}).status().code(),
            StatusCode::kUnsupported);
  EXPECT_EQ(backend_->upload_table(view).status().code(), StatusCode::kUnsupported);
  const Tensor bias = random_tensor({15}, 1, 1);
  Result<LinearRef> wrong = backend_->upload_linear({"decoder.fc1", {w.view()}, {bias.view()}});
  EXPECT_EQ(wrong.status().code(), StatusCode::kCorrupt);
  EXPECT_THAT(wrong.status().message(), testing::HasSubstr("decoder.fc1"));
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (int isa = 0; isa <= static_cast<int>(detected_cpu_isa()); ++isa) {
    for (ComputeType type : {ComputeType::kF32, ComputeType::kBf16, ComputeType::kInt8}) {
      all.emplace_back(static_cast<CpuIsa>(isa), type, 1 + isa % 3);
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, CpuBackendTest, testing::ValuesIn(settings()),
                         [](const testing::TestParamInfo<Setting>& p) {
                           const ComputeType type = std::get<1>(p.param);
                           return std::string(cpu_isa_name(std::get<0>(p.param))) +
                                  (type == ComputeType::kF32    ? "_f32"
                                   : type == ComputeType::kBf16 ? "_bf16"
                                                                : "_int8");
                         });

// CTranslate2's int8 weights must come through an int8 backend unchanged: with inputs that are
// exact in 8 bits the product is exact.
TEST(CpuBackend, Int8WeightsKeepTheirCodes) {
  CpuBackendOptions options;
  options.isa = detected_cpu_isa();
  options.compute = ComputeType::kInt8;
  Result<std::unique_ptr<Backend>> backend = make_cpu_backend(options);
  ASSERT_TRUE(backend.ok());
  std::vector<int8_t> codes(8 * 16);
  for (size_t i = 0; i < codes.size(); ++i)
    codes[i] = static_cast<int8_t>(static_cast<int>(i * 37 % 255) - 127);
  for (size_t row = 0; row < 8; ++row)
    codes[row * 16] = 127;
  const std::vector<float> scales(8, 4.0f);
  TensorView view;
  view.dtype = DType::kI8;
  view.dims = {8, 16};
  view.bytes = std::as_bytes(std::span(codes));
  EXPECT_EQ((*backend)->upload_linear({"no scales", {view}, {}}).status().code(),
            StatusCode::kCorrupt);
  view.row_scales = std::as_bytes(std::span(scales));
  Result<LinearRef> w = (*backend)->upload_linear({"ct2", {view}, {}});
  ASSERT_TRUE(w.ok());
  std::vector<float> x(16);
  for (size_t i = 0; i < 16; ++i)
    x[i] = static_cast<float>(17 * i);  // 0..255: scale 1
  Result<Activation> in = (*backend)->from_host(x, 1, 16);
  ASSERT_TRUE(in.ok());
  Result<Activation> y = (*backend)->linear(*in, **w, {});
  ASSERT_TRUE(y.ok());
  std::vector<float> out(8);
  ASSERT_TRUE((*backend)->to_host(*y, out).ok());
  for (size_t row = 0; row < 8; ++row) {
    int sum = 0;
    for (size_t i = 0; i < 16; ++i)
      sum += codes[row * 16 + i] * static_cast<int>(17 * i);
    EXPECT_FLOAT_EQ(out[row], static_cast<float>(sum) / 4.0f);
  }
}

TEST(CpuBackend, DescriptionNamesIsaAndPrecision) {
  CpuBackendOptions options;
  options.compute = ComputeType::kF32;
  options.threads = 1;
  EXPECT_EQ((*make_cpu_backend(options))->description(), "cpu (scalar), f32, 1 thread");
}

TEST(CpuBackend, AutomaticPrecisionDependsOnTheInstructionSet) {
  for (const auto& [isa, type] :
       std::vector<std::pair<CpuIsa, std::string>>{{CpuIsa::kScalar, "f32"},
                                                   {CpuIsa::kAvx2, "bf16"},
                                                   {CpuIsa::kAvx512Vnni, "bf16"},
                                                   {CpuIsa::kAvx512Bf16, "int8"}}) {
    if (isa > detected_cpu_isa()) continue;
    CpuBackendOptions options;
    options.isa = isa;
    options.threads = 1;
    EXPECT_THAT((*make_cpu_backend(options))->description(),
                ::testing::HasSubstr(", " + type + ", "));
  }
}

TEST(CpuBackend, ComputeTypesByName) {
  EXPECT_EQ(parse_compute_type("auto").value(), ComputeType::kAuto);
  EXPECT_EQ(parse_compute_type("float32").value(), ComputeType::kF32);
  EXPECT_EQ(parse_compute_type("bf16").value(), ComputeType::kBf16);
  EXPECT_EQ(parse_compute_type("int8").value(), ComputeType::kInt8);
  EXPECT_EQ(parse_compute_type("int4").status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sotto::ops
