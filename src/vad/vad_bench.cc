#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "vad/silero.h"

namespace sotto::vad {
namespace {

// Seconds of sound per second on one thread; the argument is the number of chunks handed over at
// once.
void silero(benchmark::State& state) {
  const char* folder = std::getenv("SOTTO_TEST_MODELS");
  const auto isa = cpu_isa_from_environment();
  auto model = Silero::load(std::string(folder != nullptr ? folder : ".") + "/silero-vad",
                            isa.ok() ? *isa : CpuIsa::kScalar);
  if (!model.ok()) {
    state.SkipWithError(model.status().message().c_str());
    return;
  }
  const auto chunks = static_cast<size_t>(state.range(0));
  const std::vector<float> samples(chunks * kChunkSamples, 0.1f);
  std::vector<float> probabilities(chunks);
  SileroStream stream(*model);
  for (auto _ : state)
    stream.push(samples, probabilities);
  state.counters["x real time"] =
      benchmark::Counter(static_cast<double>(samples.size()) / audio::kSampleRate,
                         benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(silero)->Arg(1)->Arg(16)->Arg(128);

}  // namespace
}  // namespace sotto::vad
