// Every reference design, executed from the compiler's own instruction words, gives the exact
// product; so does each from its description, bit for bit.
#include <gtest/gtest.h>

#include <random>

#include "base/float16.h"
#include "npu/design/testing/golden.h"
#include "npu/emit/parse.h"
#include "npu/sim/array_sim.h"
#include "npu/sim/testing/gemm_run.h"

namespace sotto::npu {
namespace {

using testing::append_header;
using testing::HostBytes;
using testing::Matrix;
using testing::pack;
using testing::product;
using testing::random_matrix;
using testing::unpack;
using testing::unwritten;

class GoldenRun : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Result<Design> design = parse_design(testing::golden_text(GetParam()));
    ASSERT_TRUE(design.ok()) << design.status().message();
    design_ = std::move(design).value();
    Result<LoweredArray> lowered = lower(design_);
    ASSERT_TRUE(lowered.ok()) << lowered.status().message();
    array_ = std::move(lowered).value();
    kernels_ = functional_kernels(design_.generation);
    for (std::unique_ptr<ArraySim>* sim : {&from_words_, &from_description_}) {
      Result<std::unique_ptr<ArraySim>> made = ArraySim::create(design_, array_, kernels_, pool_);
      ASSERT_TRUE(made.ok()) << made.status().message();
      *sim = std::move(made).value();
    }
  }

  // Launches from the golden words, the first sequence also from its description; both must agree.
  // Leaves the result in `buffers`.
  void launch(const Sequence& sequence, std::vector<HostBytes>& buffers) {
    const bool first = &sequence == &design_.sequences.front();
    std::vector<HostBytes> copy = buffers;
    Result<LaunchReport> report = from_words_->launch(
        testing::golden_words(GetParam(), sequence.name), testing::spans(buffers));
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_GT(report->cycles, 0);
    EXPECT_LE(report->peak_queue, 4);
    if (!first) return;  // one sequence a design is enough for the comparison of the two ways
    Result<LaunchReport> other = from_description_->launch(sequence, testing::spans(copy));
    ASSERT_TRUE(other.ok()) << other.status().message();
    EXPECT_EQ(buffers, copy);
    EXPECT_EQ(report->ddr_bytes_read, other->ddr_bytes_read);
    EXPECT_EQ(report->stream_words, other->stream_words);
  }

  ThreadPool pool_{2};
  Design design_;
  LoweredArray array_;
  KernelTable kernels_;
  std::unique_ptr<ArraySim> from_words_, from_description_;
  std::mt19937 rng_{1};
};

constexpr int64_t kTileM = 64, kTileK = 64, kTileN = 32;  // of every universal design

// "gemm_MxKxN" -> {M, K, N}
std::vector<int64_t> numbers_in(const std::string& name) {
  std::vector<int64_t> out;
  for (size_t i = 0; i < name.size();) {
    if (isdigit(static_cast<unsigned char>(name[i])) != 0 &&
        (i == 0 || name[i - 1] == '_' || name[i - 1] == 'x')) {
      size_t used = 0;
      out.push_back(std::stoll(name.substr(i), &used));
      i += used;
    } else {
      ++i;
    }
  }
  return out;
}

TEST_P(GoldenRun, GivesTheExactResult) {
  const std::string name = GetParam();
  const int64_t cores = generation(design_.generation).cores();
  const bool header = name[0] == 'f' && name[1] == '3';
  for (const Sequence& sequence : design_.sequences) {
    SCOPED_TRACE(sequence.name);
    const std::vector<HostArgument>& args = sequence.arguments;
    std::vector<HostBytes> buffers;
    if (sequence.name.rfind("mlp_", 0) == 0) {
      const std::vector<int64_t> z = numbers_in(sequence.name);  // M, K, H, N
      Matrix x = random_matrix(z[0] * z[1], rng_, 0.3), w = random_matrix(z[1] * z[2], rng_, 0.02);
      Matrix u = random_matrix(z[2] * z[3], rng_, 0.02);
      const auto tiles = [&](int64_t n) {
        return static_cast<int32_t>(z[0] / kTileM * (n / kTileN) / cores);
      };
      HostBytes wb = pack(w, ElementType::kBf16), ub = pack(u, ElementType::kBf16);
      if (header) {
        append_header(wb, {static_cast<int32_t>(z[1] / kTileK), tiles(z[2]) / 2, 2, 2},
                      kTileM * kTileK);
        append_header(ub, {static_cast<int32_t>(z[2] / kTileK), tiles(z[3]), 1, 0},
                      kTileM * kTileK);
      }
      buffers = {pack(x, ElementType::kBf16), wb, unwritten(args[2]), ub, unwritten(args[4])};
      launch(sequence, buffers);
      const Matrix hidden = product(x, w, z[0], z[1], z[2]);
      ASSERT_EQ(unpack(buffers[2], ElementType::kBf16), hidden);
      ASSERT_EQ(unpack(buffers[4], ElementType::kF32), product(hidden, u, z[0], z[2], z[3]));
    } else if (sequence.name.rfind("attention_", 0) == 0) {
      const std::vector<int64_t> z = numbers_in(sequence.name);  // heads, T, D, DV
      const int64_t heads = z[0], t = z[1], d = z[2], dv = z[3];
      Matrix q = random_matrix(heads * t * d, rng_, 0.3),
             k = random_matrix(heads * d * t, rng_, 0.1);
      Matrix v = random_matrix(heads * t * dv, rng_, 0.02);
      HostBytes kb = pack(k, ElementType::kBf16), vb = pack(v, ElementType::kBf16);
      append_header(kb,
                    {static_cast<int32_t>(d / kTileK),
                     static_cast<int32_t>(t / kTileM * (t / kTileN) / cores / 2), 2, 3},
                    kTileM * kTileK);
      append_header(vb,
                    {static_cast<int32_t>(t / kTileK),
                     static_cast<int32_t>(t / kTileM * (dv / kTileN) / cores), 1, 0},
                    kTileM * kTileK);
      buffers = {pack(q, ElementType::kBf16), kb, unwritten(args[2]), vb, unwritten(args[4])};
      launch(sequence, buffers);
      const Matrix out = unpack(buffers[4], ElementType::kF32);
      for (int64_t h = 0; h < heads; ++h) {
        const auto part = [&](const Matrix& all, int64_t size) {
          return Matrix(all.begin() + h * size, all.begin() + (h + 1) * size);
        };
        const Matrix scores = product(part(q, t * d), part(k, d * t), t, d, t);
        ASSERT_EQ(part(out, t * dv), product(scores, part(v, t * dv), t, t, dv)) << "head " << h;
      }
    } else if (name[0] == 'c' || name[0] == 'd' ? name.find("gemm") == std::string::npos : false) {
      // Row kernels: +1 over the window of each row; the rest of a row stays.
      const int64_t rows = numbers_in(name.substr(name.find('_')))[0];
      const int64_t window = design_.fifo("in_0_0")->type.elements();
      const int64_t pitch = name[0] == 'c' && name[1] == '2' ? 5120 : 1536;
      const int64_t cols = args[0].elements / rows;
      Matrix x = random_matrix(args[0].elements, rng_, 0.3);
      buffers = {pack(x, args[0].element), HostBytes(unwritten(args[1]).size())};
      launch(sequence, buffers);
      const Matrix y = unpack(buffers[1], args[1].element);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < cols && r * pitch + c < static_cast<int64_t>(y.size()); ++c) {
          const float want = c < window ? x[static_cast<size_t>(r * cols + c)] + 1 : 0.0f;
          ASSERT_EQ(y[static_cast<size_t>(r * pitch + c)], want) << r << "," << c;
        }
      }
    } else {
      const bool named =
          sequence.name.find('x') != std::string::npos && sequence.name.rfind("gemm_", 0) == 0;
      int64_t m, k, n;
      if (named) {
        const std::vector<int64_t> z = numbers_in(sequence.name);
        m = z[0], k = z[1], n = z[2];
      } else if (sequence.name == "sequence") {
        const std::vector<int64_t> z = numbers_in(name.substr(name.find("_") + 1));
        m = z[0], k = z[1], n = z[2];
      } else {  // f1: from the sizes of A = mk, B = kn, C = mn
        m = 1536, k = args[0].elements / m, n = args[1].elements / k;
      }
      Matrix a = random_matrix(m * k, rng_, 0.3),
             b = random_matrix(k * n, rng_, k > 1000 ? 0.02 : 0.1);
      buffers = {pack(a, ElementType::kBf16), pack(b, ElementType::kBf16), unwritten(args[2])};
      if (args.size() > 3) {
        HostBytes hb;
        append_header(hb,
                      {static_cast<int32_t>(k / kTileK),
                       static_cast<int32_t>(m / kTileM * (n / kTileN) / cores), 0, 0},
                      kTileM * kTileK);
        buffers.push_back(hb);
      }
      launch(sequence, buffers);
      ASSERT_EQ(unpack(buffers[2], args[2].element), product(a, b, m, k, n));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenRun, ::testing::ValuesIn(testing::golden_names()),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace sotto::npu
