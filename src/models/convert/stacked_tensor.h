// One tensor of a target format, as the parts of the source that it consists of.
#ifndef SOTTO_MODELS_CONVERT_STACKED_TENSOR_H_
#define SOTTO_MODELS_CONVERT_STACKED_TENSOR_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "sotto/status.h"

namespace sotto::convert {

/// `count` outermost rows of `view` from `first` on; they must be inside.
TensorView slice_rows(const TensorView& view, int64_t first, int64_t count);

/// A vector of `n` zeros that needs no bytes.
TensorView zero_vector(int64_t n);

/// Whether every value is 0. For plain floats.
bool is_zero(const TensorView& view);

/// Tensors of equal rows on top of each other: the fused query, key and value of CTranslate2 out of
/// three tensors of others. A vector counts as one row.
class StackedTensor {
 public:
  StackedTensor() = default;
  explicit StackedTensor(TensorView part) : parts_{std::move(part)} {}

  void append(TensorView part) { parts_.push_back(std::move(part)); }

  /// A vector [n] as the matrix [n, 1].
  [[nodiscard]] StackedTensor as_column() const;

  [[nodiscard]] std::vector<int64_t> dims() const;
  [[nodiscard]] int64_t row_elements() const;
  /// Of all parts, if they have the same.
  [[nodiscard]] bool has_dtype(DType dtype) const;

  /// Row `row` as f32; kUnsupported when a part's type cannot be read.
  Status read_row(int64_t row, std::span<float> out) const;
  /// Row `row` as it is stored. Only for matrices of block types, i.e. where has_dtype() of one is
  /// true.
  void copy_row(int64_t row, std::span<std::byte> out) const;

 private:
  /// The part that holds `row`, which becomes the row inside it.
  [[nodiscard]] const TensorView& part_of(int64_t& row) const;

  std::vector<TensorView> parts_;
};

}  // namespace sotto::convert

#endif  // SOTTO_MODELS_CONVERT_STACKED_TENSOR_H_
