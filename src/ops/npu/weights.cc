#include "ops/npu/weights.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/dequantize.h"

namespace sotto::ops::npu {
namespace {

void read_row(const kernels::ConvertKernels& convert, const TensorView& view, int64_t i,
              float* out) {
  float scale = 1;
  if (!view.row_scales.empty()) std::memcpy(&scale, view.row_scales.data() + i * 4, 4);
  const int64_t n = view.row_elements();
  kernels::dequantize_row(convert, view.dtype, view.bytes.data() + i * dtype_bytes(view.dtype, n),
                          n, scale, out);
}

std::vector<float> read_bias(const LinearSource& source, const kernels::ConvertKernels& convert) {
  std::vector<float> bias;
  const bool any = std::any_of(source.biases.begin(), source.biases.end(),
                               [](const TensorView& view) { return !view.bytes.empty(); });
  if (!any) return bias;
  for (size_t part = 0; part < source.weights.size(); ++part) {
    const TensorView& view = source.biases[part];
    const size_t at = bias.size();
    bias.resize(at + static_cast<size_t>(source.weights[part].rows()));
    if (!view.bytes.empty())
      kernels::dequantize_row(convert, view.dtype, view.bytes.data(), view.elements(), 1,
                              bias.data() + at);
  }
  return bias;
}

}  // namespace

std::unique_ptr<ArrayWeight> ArrayWeight::create(const LinearSource& source, bool convolution,
                                                 const kernels::ConvertKernels& convert) {
  auto weight = std::make_unique<ArrayWeight>();
  const TensorView& first = source.weights[0];
  const int64_t width = convolution ? first.dims[2] : 1;
  weight->k_ = first.row_elements();
  for (const TensorView& view : source.weights)
    weight->n_ += view.rows();
  const int64_t in = weight->k_ / width;
  weight->values_.resize(static_cast<size_t>(weight->k_ * weight->n_));
  std::vector<float> row(static_cast<size_t>(weight->k_));
  int64_t column = 0;
  for (const TensorView& view : source.weights) {
    for (int64_t i = 0; i < view.rows(); ++i, ++column) {
      read_row(convert, view, i, row.data());
      for (int64_t w = 0; w < width; ++w) {  // [in, width] -> [width, in]
        for (int64_t j = 0; j < in; ++j) {
          weight->values_[static_cast<size_t>((w * in + j) * weight->n_ + column)] =
              to_bf16(row[static_cast<size_t>(j * width + w)]);
        }
      }
    }
  }
  weight->bias_ = read_bias(source, convert);
  return weight;
}

Result<rt::Buffer*> ArrayWeight::operand(UniversalArray& array, const GemmShape& padded,
                                         bool with_bias) {
  std::unique_ptr<rt::Buffer>& slot = resident_[{padded.k, padded.n, with_bias}];
  if (slot != nullptr) return slot.get();
  SOTTO_ASSIGN_OR_RETURN(slot, array.allocate(padded.k * padded.n * 2 + array.header_bytes()));
  Bf16* out = slot->as<Bf16>();
  for (int64_t row = 0; row < k_; ++row)
    std::copy_n(values_.data() + row * n_, n_, out + row * padded.n);
  if (with_bias && !bias_.empty()) {
    for (int64_t j = 0; j < n_; ++j) {
      const float value = bias_[static_cast<size_t>(j)];
      const Bf16 high = to_bf16(value);
      out[k_ * padded.n + j] = high;
      out[(k_ + 1) * padded.n + j] = to_bf16(value - to_float(high));
    }
  }
  return slot.get();
}

}  // namespace sotto::ops::npu
