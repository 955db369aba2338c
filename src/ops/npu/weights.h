// Weights of the NPU backend: the CPU's for what runs there, and where a weight is multiplied with
// whole windows also the array's.
#ifndef SOTTO_OPS_NPU_WEIGHTS_H_
#define SOTTO_OPS_NPU_WEIGHTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/float16.h"
#include "kernels/convert.h"
#include "ops/backend.h"
#include "ops/npu/universal_array.h"

namespace sotto::ops::npu {

/// A weight as operand B [k, n], bf16, with its bias.
class ArrayWeight {
 public:
  /// `conv_width` > 0: weights [out, in, width], gathered rows have k = width * in. The views were
  /// checked by the CPU backend.
  static std::unique_ptr<ArrayWeight> create(const LinearSource& source, bool convolution,
                                             const kernels::ConvertKernels& convert);

  [[nodiscard]] int64_t k() const { return k_; }
  [[nodiscard]] int64_t n() const { return n_; }
  [[nodiscard]] const std::vector<float>& bias() const { return bias_; }

  /// Rows of k that the bias takes when the product adds it: its bf16 and what that leaves, against
  /// two columns of ones.
  static constexpr int64_t kBiasRows = 2;

  /// B [padded.k, padded.n] and room for a header, resident from the first call on.
  Result<rt::Buffer*> operand(UniversalArray& array, const GemmShape& padded, bool with_bias);

 private:
  struct Key {
    int64_t k, n;
    bool with_bias;
    auto operator<=>(const Key&) const = default;
  };
  int64_t k_ = 0, n_ = 0;
  std::vector<Bf16> values_;  ///< [k, n]
  std::vector<float> bias_;   ///< [n], or empty
  std::map<Key, std::unique_ptr<rt::Buffer>> resident_;
};

struct NpuLinear final : LinearWeight {
  LinearRef cpu;
  std::string name;
  std::unique_ptr<ArrayWeight> array;  ///< Null: only the CPU multiplies with it
};

}  // namespace sotto::ops::npu

#endif  // SOTTO_OPS_NPU_WEIGHTS_H_
