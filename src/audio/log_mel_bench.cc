#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "audio/log_mel.h"

namespace sotto::audio {
namespace {

// 30 s on one thread; the argument is the number of bands.
void log_mel(benchmark::State& state) {
  SampleBuffer samples;
  std::vector<float> x(size_t{30} * kSampleRate);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = 0.5f * std::sin(static_cast<float>(i) * 0.05f);
  samples.append(x);
  ThreadPool pool(1);
  for (auto _ : state) {
    auto mel = LogMel::compute(samples, static_cast<int>(state.range(0)), pool);
    benchmark::DoNotOptimize(mel);
  }
}
BENCHMARK(log_mel)->Arg(80)->Arg(128)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sotto::audio
