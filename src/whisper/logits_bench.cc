// Cost of the numeric work on one row of logits of a multilingual model.
#include "whisper/logits.h"

#include <benchmark/benchmark.h>

#include <random>
#include <vector>

namespace sotto::whisper {
namespace {

std::vector<float> random_row() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 4);
  std::vector<float> row(51865);
  for (float& x : row)
    x = normal(random);
  return row;
}

void log_sum_exp_row(benchmark::State& state) {
  const std::vector<float> row = random_row();
  for (auto _ : state)
    benchmark::DoNotOptimize(log_sum_exp(row));
}
BENCHMARK(log_sum_exp_row);

void best_token_row(benchmark::State& state) {
  const std::vector<float> row = random_row();
  for (auto _ : state)
    benchmark::DoNotOptimize(best_token(row));
}
BENCHMARK(best_token_row);

void top_tokens_row(benchmark::State& state) {
  const std::vector<float> row = random_row();
  std::vector<ScoredToken> top;
  for (auto _ : state) {
    top_tokens(row, static_cast<int>(state.range(0)), top);
    benchmark::DoNotOptimize(top.data());
  }
}
BENCHMARK(top_tokens_row)->Arg(6)->Arg(65);

void sample_token_row(benchmark::State& state) {
  const std::vector<float> row = random_row();
  for (auto _ : state)
    benchmark::DoNotOptimize(sample_token(row, 0.6f, 0.7));
}
BENCHMARK(sample_token_row);

}  // namespace
}  // namespace sotto::whisper
