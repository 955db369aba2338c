// What the arithmetic units reach at best: the measure of every other kernel.
#ifndef SOTTO_KERNELS_PEAK_H_
#define SOTTO_KERNELS_PEAK_H_

#include <cstdint>

#include "kernels/gemm.h"

namespace sotto::kernels {

/// A loop of multiply-add instructions over registers: no memory, no dependencies that stall.
/// Serial, thread-safe.
struct PeakProbe {
  const char* name = nullptr;  ///< "peak_bf16_avx512_bf16"
  double operations = 0;       ///< An iteration: 2 * multiply-accumulates
  /// The result has no meaning; it keeps the loop from being removed.
  float (*run)(int64_t iterations) = nullptr;
};

/// The instructions that a level multiplies each type with. A type that it has none for is widened
/// first and has the probe of the wider one.
struct PeakProbes {
  PeakProbe f32, bf16, int8;

  [[nodiscard]] const PeakProbe& of(GemmType type) const {
    return type == GemmType::kF32 ? f32 : type == GemmType::kBf16 ? bf16 : int8;
  }
};

}  // namespace sotto::kernels

#endif  // SOTTO_KERNELS_PEAK_H_
