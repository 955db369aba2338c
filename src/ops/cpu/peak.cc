#include "ops/cpu/peak.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/stopwatch.h"

namespace sotto::ops::cpu {
namespace {

using kernels::GemmType;

/// Iterations that take about `seconds` in one thread.
int64_t iterations_for(const kernels::PeakProbe& probe, double seconds) {
  int64_t iterations = 100;
  for (;;) {
    const Stopwatch watch;
    probe.run(iterations);
    const double took = watch.seconds();
    if (took > seconds / 4)
      return static_cast<int64_t>(static_cast<double>(iterations) * seconds / took);
    iterations *= 2;
  }
}

/// The sum of every thread's best rate while all of them work. Pieces are short beside a time
/// slice, so that a busy neighbour does not get into all of them.
double measure_gflops(Context& context, const kernels::PeakProbe& probe) {
  constexpr double kSeconds = 0.0005;
  constexpr int kPieces = 40;
  const int64_t iterations = iterations_for(probe, kSeconds);
  const double operations = probe.operations * static_cast<double>(iterations);
  std::vector<double> best(static_cast<size_t>(context.pool.size()));
  context.pool.parallel_for(context.pool.size(), [&](int64_t task, int) {
    for (int piece = 0; piece < kPieces; ++piece) {
      const Stopwatch watch;
      probe.run(iterations);
      double& rate = best[static_cast<size_t>(task)];
      rate = std::max(rate, operations / watch.seconds() * 1e-9);
    }
  });
  return std::accumulate(best.begin(), best.end(), 0.0);
}

}  // namespace

const char* type_name(GemmType type) {
  return type == GemmType::kF32 ? "f32" : type == GemmType::kBf16 ? "bf16" : "int8";
}

std::map<std::string, double> measure_peaks(Context& context) {
  std::map<std::string, double> peaks;
  for (const GemmType type : {GemmType::kF32, GemmType::kBf16, GemmType::kInt8})
    peaks[type_name(type)] = measure_gflops(context, context.kernels.peak.of(type));
  return peaks;
}

}  // namespace sotto::ops::cpu
