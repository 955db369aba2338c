#include "whisper/testing/loaded_checkpoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "whisper/decoder.h"
#include "whisper/encoder.h"

namespace sotto::whisper::testing {

std::unique_ptr<ops::Backend> make_test_backend(ops::ComputeType compute) {
  const auto isa = cpu_isa_from_environment();
  EXPECT_TRUE(isa.ok()) << isa.status().message();
  auto backend = ops::make_cpu_backend({.isa = isa.value(), .compute = compute, .threads = 2});
  EXPECT_TRUE(backend.ok()) << backend.status().message();
  return std::move(backend).value();
}

Result<std::unique_ptr<LoadedCheckpoint>> load_file(models::ModelFile file,
                                                    ops::ComputeType compute) {
  auto out = std::make_unique<LoadedCheckpoint>();
  out->file = std::move(file);
  out->backend = make_test_backend(compute);
  SOTTO_ASSIGN_OR_RETURN(out->naming, detect_naming(out->file));
  SOTTO_ASSIGN_OR_RETURN(out->config, read_config(out->file, out->naming));
  SOTTO_ASSIGN_OR_RETURN(out->weights,
                         upload_weights(out->file, out->naming, out->config, *out->backend));
  return out;
}

std::unique_ptr<LoadedCheckpoint> load_checkpoint(const std::string& path,
                                                  ops::ComputeType compute) {
  auto file = models::open_model_file(path);
  EXPECT_TRUE(file.ok()) << file.status().message();
  auto loaded = load_file(std::move(file).value(), compute);
  EXPECT_TRUE(loaded.ok()) << loaded.status().message();
  return std::move(loaded).value();
}

std::vector<float> random_mel(const Config& config, int positions, uint32_t seed) {
  std::vector<float> out(static_cast<size_t>(2 * positions * config.n_mels));
  for (float& value : out) {
    seed = seed * 1664525U + 1013904223U;
    value = static_cast<float>(seed >> 8) * 0x1p-23f - 0.8f;
  }
  return out;
}

std::vector<float> encoder_output(LoadedCheckpoint& loaded, std::span<const float> mel,
                                  int positions) {
  const auto encoded = run_encoder(*loaded.backend, loaded.config, loaded.weights, mel, positions);
  EXPECT_TRUE(encoded.ok()) << encoded.status().message();
  std::vector<float> out(static_cast<size_t>(encoded->rows() * encoded->cols()));
  EXPECT_TRUE(loaded.backend->to_host(*encoded, out).ok());
  return out;
}

std::unique_ptr<EncodedWindow> encode(LoadedCheckpoint& loaded, std::span<const float> mel,
                                      int positions) {
  const auto encoded = run_encoder(*loaded.backend, loaded.config, loaded.weights, mel, positions);
  EXPECT_TRUE(encoded.ok()) << encoded.status().message();
  auto window = make_window(*loaded.backend, loaded.config, loaded.weights, *encoded);
  EXPECT_TRUE(window.ok()) << window.status().message();
  return std::move(window).value();
}

std::vector<float> feed(Decoder& decoder, const Config& config, const EncodedWindow& window,
                        const std::vector<int>& tokens, int64_t first, int sequence) {
  DecodeBatch batch;
  for (size_t i = 0; i < tokens.size(); ++i) {
    batch.tokens.push_back(tokens[i]);
    batch.rows.push_back({sequence, first + static_cast<int64_t>(i)});
    batch.windows.push_back(&window);
    batch.logit_rows.push_back(static_cast<int64_t>(i));
  }
  std::vector<float> logits(tokens.size() * static_cast<size_t>(config.n_vocab));
  const Status status = decoder.step(batch, logits, nullptr);
  EXPECT_TRUE(status.ok()) << status.message();
  return logits;
}

std::vector<float> forward(LoadedCheckpoint& loaded, const EncodedWindow& window,
                           const std::vector<int>& tokens) {
  auto decoder = CachedDecoder::create(*loaded.backend, loaded.config, loaded.weights, 1);
  EXPECT_TRUE(decoder.ok()) << decoder.status().message();
  return feed(**decoder, loaded.config, window, tokens);
}

double cosine(std::span<const float> a, std::span<const float> b) {
  EXPECT_EQ(a.size(), b.size());
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  return ab / std::sqrt(aa * bb);
}

double largest_difference(std::span<const float> a, std::span<const float> b) {
  EXPECT_EQ(a.size(), b.size());
  double out = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = std::fabs(double{a[i]} - b[i]);
    if (!(difference <= out)) out = difference;  // Keeps a NaN
  }
  return out;
}

}  // namespace sotto::whisper::testing
