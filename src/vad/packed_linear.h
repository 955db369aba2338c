// A small f32 linear layer over the GEMM kernels.
#ifndef SOTTO_VAD_PACKED_LINEAR_H_
#define SOTTO_VAD_PACKED_LINEAR_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernel_table.h"

namespace sotto::vad {

/// Memory at multiples of 64 bytes, where the kernels are fastest.
struct alignas(64) CacheLine {
  std::array<float, 16> value;
};

class PackedLinear {
 public:
  PackedLinear() = default;
  /// weight: [out, in] row-major; bias: [out] or empty.
  PackedLinear(const kernels::KernelTable& kernels, std::span<const float> weight,
               std::vector<float> bias, int64_t out, int64_t in);

  /// c [m, ldc] = (add [m, ld_add] or 0) + a [m, lda] * weight^T + bias. Rows of a may overlap.
  void run(int64_t m, const float* a, int64_t lda, float* c, int64_t ldc,
           const float* add = nullptr, int64_t ld_add = 0) const;

  [[nodiscard]] int64_t out() const { return out_; }

 private:
  const kernels::GemmKernel* kernel_ = nullptr;
  int64_t out_ = 0, in_ = 0;
  std::vector<CacheLine> panels_;
  std::vector<float> bias_;
};

}  // namespace sotto::vad

#endif  // SOTTO_VAD_PACKED_LINEAR_H_
