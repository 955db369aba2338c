// Whole encoders of real weights on the simulated array.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "models/formats/model_file.h"
#include "npu/runtime/sim/sim_device.h"
#include "ops/npu/npu_backend.h"
#include "whisper/encoder.h"
#include "whisper/weights.h"
#include "whisper/weights_naming.h"

namespace sotto {
namespace {

constexpr int kFrames = 3000;

struct Encoded {
  std::vector<float> output;
  std::vector<ops::OpCounter> counters;
};

/// The JFK clip's features as the graph's golden tests store them; frames beyond repeat the last.
std::vector<float> jfk_mel(int n_mels) {
  const auto file = models::open_model_file(SOTTO_WHISPER_TESTDATA "/jfk_mel.safetensors").value();
  const TensorView codes = file.tensor("codes").value();
  float scale[2];
  std::memcpy(scale, file.tensor("low_and_step")->bytes.data(), sizeof scale);
  std::vector<float> out;
  for (const std::byte code : codes.bytes)
    out.push_back(scale[0] + static_cast<float>(std::to_integer<int>(code)) * scale[1]);
  const std::vector<float> last(out.end() - n_mels, out.end());
  while (out.size() < static_cast<size_t>(kFrames * n_mels))
    out.insert(out.end(), last.begin(), last.end());
  return out;
}

Encoded encode(const std::string& model, std::unique_ptr<ops::Backend> backend, int positions) {
  const char* folder = std::getenv("SOTTO_TEST_MODELS");
  EXPECT_NE(folder, nullptr) << "set SOTTO_TEST_MODELS (scripts/test does)";
  if (folder == nullptr) return {};
  const auto file = models::open_model_file(std::string(folder) + "/" + model).value();
  const auto naming = whisper::detect_naming(file).value();
  const auto config = whisper::read_config(file, naming).value();
  const auto weights = whisper::upload_weights(file, naming, config, *backend).value();
  auto mel = jfk_mel(config.n_mels);
  mel.resize(static_cast<size_t>(2 * positions * config.n_mels));
  const auto x = whisper::run_encoder(*backend, config, weights, mel, positions);
  EXPECT_TRUE(x.ok()) << x.status().message();
  if (!x.ok()) return {};
  Encoded out;
  out.output.resize(static_cast<size_t>(x->rows() * x->cols()));
  EXPECT_TRUE(backend->to_host(*x, out.output).ok());
  out.counters = backend->counters();
  return out;
}

/// The CPU's part runs without vector instructions: its bits then do not depend on the machine.
Encoded on_sim(const std::string& model, int positions, int threads, CpuIsa isa) {
  auto device = npu::runtime::make_sim_device(ops::npu_designs(), isa, threads).value();
  const ops::CpuBackendOptions cpu{CpuIsa::kScalar, ops::ComputeType::kF32, threads};
  return encode(model, ops::make_npu_backend(std::move(device), cpu).value(), positions);
}

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += double{a[i]} * double{b[i]};
    aa += double{a[i]} * double{a[i]};
    bb += double{b[i]} * double{b[i]};
  }
  return ab / std::sqrt(aa * bb);
}

/// FNV-1a over the bits.
uint64_t fingerprint(const std::vector<float>& values) {
  uint64_t hash = 0xcbf29ce484222325U;
  for (const std::byte b : std::as_bytes(std::span(values)))
    hash = (hash ^ std::to_integer<uint64_t>(b)) * 0x100000001b3U;
  return hash;
}

struct Expected {
  const char* model;
  double cosine;
  int64_t products;      ///< Two convolutions; each layer: qkv, output, two of the MLP, two a head
  uint64_t fingerprint;  ///< Of a whole window; changes only when the arithmetic is meant to change
};
class SimEncoder : public ::testing::TestWithParam<Expected> {};

TEST_P(SimEncoder, IsCloseToFloatAndDoesEveryProductOnTheArray) {
  const Expected& expected = GetParam();
  const CpuIsa isa = detected_cpu_isa();
  const Encoded sim = on_sim(expected.model, kFrames / 2, 2, isa);
  const ops::CpuBackendOptions options{isa, ops::ComputeType::kF32, 2};
  const Encoded cpu = encode(expected.model, ops::make_cpu_backend(options).value(), kFrames / 2);
  ASSERT_EQ(sim.output.size(), cpu.output.size());
  const double similarity = cosine(sim.output, cpu.output);
  RecordProperty("one_minus_cosine", std::to_string(1 - similarity));
  EXPECT_GE(similarity, expected.cosine);
  EXPECT_EQ(fingerprint(sim.output), expected.fingerprint)
      << std::hex << "0x" << fingerprint(sim.output) << ", 1 - cosine " << 1 - similarity;
  int64_t products = 0;
  for (const ops::OpCounter& counter : sim.counters) {
    EXPECT_EQ(counter.fallbacks, 0) << counter.op << ": " << counter.fallback_reason;
    if (counter.op == "array products") products = counter.calls;
    if (counter.device == "cpu") {
      EXPECT_TRUE(counter.op == "layer_norm" || counter.op == "embed") << counter.op;
    }
  }
  EXPECT_EQ(products, expected.products);
}

INSTANTIATE_TEST_SUITE_P(Models, SimEncoder,
                         ::testing::Values(Expected{"tiny.en", 0.99995, 66, 0xd4f8a67f720ff57e},
                                           Expected{"base", 0.9999, 122, 0x51bcee07794a6500}),
                         [](const auto& test) {
                           return std::string(test.param.model).substr(0, 4);
                         });

TEST(SimEncoder, ShortWindowsHaveTheSameBitsForAnyThreadsAndInstructions) {
  constexpr int kPositions = 70;
  const CpuIsa best = detected_cpu_isa();
  const Encoded first = on_sim("tiny.en", kPositions, 1, best);
  EXPECT_EQ(on_sim("tiny.en", kPositions, 3, std::min(best, CpuIsa::kAvx2)).output, first.output);
}

}  // namespace
}  // namespace sotto
