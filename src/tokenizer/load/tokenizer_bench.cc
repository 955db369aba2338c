// Loading and encoding with the real vocabulary of Whisper base (SOTTO_TEST_MODELS).
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>

#include "base/mapped_file.h"
#include "tokenizer/load/load.h"

namespace sotto::tokenizer {
namespace {

models::ModelFile base_model(models::FileFormat format) {
  const char* models = std::getenv("SOTTO_TEST_MODELS");
  models::ModelFile model;
  model.format = format;
  model.path = std::string(models != nullptr ? models : ".") + "/base";
  return model;
}

void load(benchmark::State& state, models::FileFormat format) {
  const models::ModelFile model = base_model(format);
  for (auto _ : state) {
    const auto tokenizer = load_for_model(model);
    if (!tokenizer.ok()) return state.SkipWithError(tokenizer.status().message().c_str());
    benchmark::DoNotOptimize((*tokenizer)->vocabulary_size());
  }
}
BENCHMARK_CAPTURE(load, vocabulary_txt, models::FileFormat::kCTranslate2)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(load, tokenizer_json, models::FileFormat::kSafetensors)
    ->Unit(benchmark::kMillisecond);

void encode_6000_characters(benchmark::State& state) {
  const auto tokenizer = load_for_model(base_model(models::FileFormat::kCTranslate2));
  if (!tokenizer.ok()) return state.SkipWithError(tokenizer.status().message().c_str());
  std::string text;
  while (text.size() < 6000) {
    text += " Ask not what your country can do for you; Straße, 日本語, 1984!";
  }
  for (auto _ : state)
    benchmark::DoNotOptimize((*tokenizer)->encode(text));
}
BENCHMARK(encode_6000_characters)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace sotto::tokenizer
