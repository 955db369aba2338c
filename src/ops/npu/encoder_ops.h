// The encoder's products on the array: host matrices in, host matrices out.
#ifndef SOTTO_OPS_NPU_ENCODER_OPS_H_
#define SOTTO_OPS_NPU_ENCODER_OPS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "ops/npu/universal_array.h"
#include "ops/npu/weights.h"
#include "sotto/status.h"

namespace sotto::ops::npu {

/// Row-major f32.
struct HostMatrix {
  int64_t rows = 0, cols = 0;
  std::vector<float> values;  ///< [rows, cols]
  HostMatrix() = default;
  HostMatrix(int64_t r, int64_t c) : rows(r), cols(c), values(static_cast<size_t>(r * c)) {}
  [[nodiscard]] float* row(int64_t i) { return values.data() + i * cols; }
  [[nodiscard]] const float* row(int64_t i) const { return values.data() + i * cols; }
};

/// x [m, k] w + bias, through GELU if asked -> [m, n]. With GELU the array adds the bias to its f32
/// sums and stores bf16; without, sums come back as f32 and the host adds the f32 bias.
Result<HostMatrix> product(UniversalArray& array, const HostMatrix& x, ArrayWeight& w, bool gelu);

/// gelu(x w1 + b1) w2 + b2 -> [m, n] in one launch; the hidden rows stay on the device.
Result<HostMatrix> mlp(UniversalArray& array, const HostMatrix& x, ArrayWeight& w1,
                       ArrayWeight& w2);

/// Width-3 windows of the rows of x [t, in], zero beyond its ends -> [ceil(t / stride), 3 in].
HostMatrix gather_windows(const HostMatrix& x, int64_t stride);

/// Attention of each row of one window to all its rows. qkv [t, 3 d] -> [t, d].
///
/// The scores' exp are stored as bf16 without a maximum taken off, the second product runs against
/// the values and a column of ones, whose result is the denominator. That needs every score below
/// 87 and some score of each row above about -60: kUnsupported names the row where it does not
/// hold.
Result<HostMatrix> attention(UniversalArray& array, const HostMatrix& qkv, int64_t heads);

}  // namespace sotto::ops::npu

#endif  // SOTTO_OPS_NPU_ENCODER_OPS_H_
