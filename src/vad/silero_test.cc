#include "vad/silero.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/testing/kernel_testing.h"

namespace sotto::vad {
namespace {

using kernels::testing::Random;
using testing::HasSubstr;

struct Tensor {
  std::vector<int64_t> dims;
  std::vector<float> values;
  [[nodiscard]] double at(size_t i) const { return values[i]; }
};
using Tensors = std::map<std::string, Tensor>;

Tensors random_weights() {
  const std::map<std::string, std::vector<int64_t>> shapes = {{"stft_conv.weight", {258, 1, 256}},
                                                              {"conv1.weight", {128, 129, 3}},
                                                              {"conv1.bias", {128}},
                                                              {"conv2.weight", {64, 128, 3}},
                                                              {"conv2.bias", {64}},
                                                              {"conv3.weight", {64, 64, 3}},
                                                              {"conv3.bias", {64}},
                                                              {"conv4.weight", {128, 64, 3}},
                                                              {"conv4.bias", {128}},
                                                              {"lstm_cell.weight_ih", {512, 128}},
                                                              {"lstm_cell.weight_hh", {512, 128}},
                                                              {"lstm_cell.bias_ih", {512}},
                                                              {"lstm_cell.bias_hh", {512}},
                                                              {"final_conv.weight", {1, 128, 1}},
                                                              {"final_conv.bias", {1}}};
  Random random(3);
  Tensors tensors;
  for (const auto& [name, dims] : shapes) {
    Tensor& tensor = tensors[name];
    tensor.dims = dims;
    size_t count = 1;
    for (const int64_t d : dims)
      count *= static_cast<size_t>(d);
    const float gain = name == "final_conv.weight" ? 6.0f : 1.5f;  // spreads the probabilities
    const float fan_in = static_cast<float>(count) / static_cast<float>(dims[0]);
    for (size_t i = 0; i < count; ++i)
      tensor.values.push_back(random.normal() * gain / std::sqrt(fan_in));
  }
  return tensors;
}

// Writes a safetensors file; it is removed with the object.
class WeightsFile {
 public:
  explicit WeightsFile(const Tensors& tensors)
      : path_(testing::TempDir() + "sotto_silero_test.safetensors") {
    nlohmann::json header;
    std::string data;
    for (const auto& [name, tensor] : tensors) {
      const size_t begin = data.size();
      data.append(reinterpret_cast<const char*>(tensor.values.data()),
                  tensor.values.size() * sizeof(float));
      header[name] = {
          {"dtype", "F32"}, {"shape", tensor.dims}, {"data_offsets", {begin, data.size()}}};
    }
    const std::string text = header.dump();
    const uint64_t length = text.size();
    std::ofstream out(path_, std::ios::binary);
    out.write(reinterpret_cast<const char*>(&length), sizeof length);
    out << text << data;
  }
  ~WeightsFile() { std::filesystem::remove(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// [channels][columns] -> [out][columns']: the definition of a convolution of three taps with a
// border of zeros.
using Matrix = std::vector<std::vector<double>>;
Matrix conv(const Matrix& x, const Tensor& weight, const Tensor& bias, int stride) {
  const auto in = x.size(), out = static_cast<size_t>(weight.dims[0]);
  const auto columns = static_cast<int>(x[0].size());
  Matrix y(out);
  for (size_t o = 0; o < out; ++o) {
    for (int t = 0; t < columns; t += stride) {
      double sum = bias.at(o);
      for (size_t i = 0; i < in; ++i) {
        for (int k = 0; k < 3; ++k) {
          const int column = t + k - 1;
          if (column < 0 || column >= columns) continue;
          sum += weight.at((o * in + i) * 3 + static_cast<size_t>(k)) *
                 x[i][static_cast<size_t>(column)];
        }
      }
      y[o].push_back(std::max(sum, 0.0));
    }
  }
  return y;
}

// The network in plain loops, for one chunk; h and c carry over.
double definition(const Tensors& w, std::span<const float> chunk576, std::vector<double>& h,
                  std::vector<double>& c) {
  std::vector<double> x(chunk576.begin(), chunk576.end());
  for (int i = 0; i < 64; ++i)
    x.push_back(chunk576[static_cast<size_t>(574 - i)]);
  Matrix magnitude(129, std::vector<double>(4));
  const Tensor& stft = w.at("stft_conv.weight");
  for (size_t f = 0; f < 129; ++f) {
    for (size_t t = 0; t < 4; ++t) {
      double re = 0, im = 0;
      for (size_t i = 0; i < 256; ++i) {
        re += stft.at(f * 256 + i) * x[t * 128 + i];
        im += stft.at((f + 129) * 256 + i) * x[t * 128 + i];
      }
      magnitude[f][t] = std::hypot(re, im);
    }
  }
  Matrix y = conv(magnitude, w.at("conv1.weight"), w.at("conv1.bias"), 1);
  y = conv(y, w.at("conv2.weight"), w.at("conv2.bias"), 2);
  y = conv(y, w.at("conv3.weight"), w.at("conv3.bias"), 2);
  y = conv(y, w.at("conv4.weight"), w.at("conv4.bias"), 1);
  std::vector<double> gates(512);
  for (size_t g = 0; g < gates.size(); ++g) {
    gates[g] = w.at("lstm_cell.bias_ih").at(g) + w.at("lstm_cell.bias_hh").at(g);
    for (size_t i = 0; i < 128; ++i) {
      gates[g] += w.at("lstm_cell.weight_ih").at(g * 128 + i) * y[i][0] +
                  w.at("lstm_cell.weight_hh").at(g * 128 + i) * h[i];
    }
  }
  double logit = w.at("final_conv.bias").at(0);
  for (size_t i = 0; i < 128; ++i) {
    c[i] = sigmoid(gates[128 + i]) * c[i] + sigmoid(gates[i]) * std::tanh(gates[256 + i]);
    h[i] = sigmoid(gates[384 + i]) * std::tanh(c[i]);
    logit += w.at("final_conv.weight").at(i) * std::max(h[i], 0.0);
  }
  return sigmoid(logit);
}

class SileroOnIsa : public testing::TestWithParam<CpuIsa> {};
INSTANTIATE_TEST_SUITE_P(Isa, SileroOnIsa, testing::ValuesIn(kernels::testing::usable_isas()),
                         kernels::testing::isa_label);

TEST_P(SileroOnIsa, EqualsTheDefinitionWithRandomWeights) {
  const Tensors weights = random_weights();
  const WeightsFile file(weights);
  auto model = Silero::load(file.path(), GetParam());
  ASSERT_TRUE(model.ok()) << model.status().message();
  constexpr size_t kChunks = 19;  // more than a batch
  std::vector<float> samples(64 + kChunks * kChunkSamples, 0.0f);
  Random random(5);
  for (size_t i = 64; i < samples.size(); ++i) {
    const auto loudness = static_cast<float>((i / kChunkSamples) % 4);
    samples[i] = loudness * random.normal();
  }
  std::vector<float> got(kChunks);
  SileroStream stream(*model);
  stream.push(std::span(samples).subspan(64), got);
  std::vector<double> h(128), c(128);
  double lowest = 1, highest = 0;
  for (size_t i = 0; i < kChunks; ++i) {
    const double expected =
        definition(weights, std::span(samples).subspan(i * kChunkSamples, 576), h, c);
    ASSERT_NEAR(got[i], expected, 1e-4) << "chunk " << i;
    lowest = std::min(lowest, expected);
    highest = std::max(highest, expected);
  }
  EXPECT_GT(highest - lowest, 0.1) << "a test on equal numbers would prove little";
}

TEST(Silero, BatchesAndSingleChunksGiveTheSame) {
  const WeightsFile file(random_weights());
  auto model = Silero::load(file.path(), detected_cpu_isa());
  ASSERT_TRUE(model.ok()) << model.status().message();
  constexpr size_t kChunks = 21;
  std::vector<float> samples(kChunks * kChunkSamples);
  Random random(6);
  for (float& x : samples)
    x = random.normal();
  std::vector<float> together(kChunks), alone(kChunks), again(kChunks);
  SileroStream stream(*model);
  stream.push(samples, together);
  stream.reset();
  for (size_t i = 0; i < kChunks; ++i) {
    stream.push(std::span(samples).subspan(i * kChunkSamples, kChunkSamples),
                std::span(alone).subspan(i, 1));
  }
  for (size_t i = 0; i < kChunks; ++i)
    EXPECT_NEAR(alone[i], together[i], 1e-5) << i;
  stream.reset();
  stream.push(samples, again);
  EXPECT_EQ(again, together) << "reset forgets everything";
}

TEST(Silero, WholeRecordings) {
  const WeightsFile file(random_weights());
  auto model = Silero::load(file.path(), detected_cpu_isa());
  ASSERT_TRUE(model.ok());
  audio::SampleBuffer samples;
  EXPECT_EQ(speech_probabilities(*model, samples)->size(), 0U);
  samples.append(std::vector<float>(kChunkSamples * 300 + 1, 0.1f));
  EXPECT_EQ(speech_probabilities(*model, samples)->size(), 301U);
  EXPECT_EQ(speech_probabilities(*model, samples, [] { return true; }).status().code(),
            StatusCode::kCancelled);
}

TEST(Silero, RefusesOtherFiles) {
  EXPECT_EQ(Silero::load("/no/such/file", CpuIsa::kScalar).status().code(), StatusCode::kNotFound);
  Tensors weights = random_weights();
  weights["conv2.weight"].dims = {64, 3, 128};
  const WeightsFile wrong_shape(weights);
  const Status status = Silero::load(wrong_shape.path(), CpuIsa::kScalar).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("conv2.weight"));
  EXPECT_THAT(status.message(), HasSubstr("sotto pull silero-vad"));
  weights.erase("final_conv.bias");
  const WeightsFile missing(weights);
  EXPECT_EQ(Silero::load(missing.path(), CpuIsa::kScalar).status().code(),
            StatusCode::kUnsupported);
}

}  // namespace
}  // namespace sotto::vad
