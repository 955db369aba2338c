#include "models/convert/stacked_tensor.h"

#include <algorithm>
#include <cstring>

#include "kernels/dequantize.h"
#include "kernels/kernel_table.h"

namespace sotto::convert {
namespace {

/// The elements of `bytes` as f32.
Status read_elements(DType type, std::span<const std::byte> bytes, float scale,
                     std::span<float> out) {
  if (!kernels::can_dequantize(type)) {
    return unsupported("its type " + std::string(dtype_info(type).name) + " cannot be converted");
  }
  // Conversions are bound by the disk: the reference kernels are fast enough.
  const kernels::ConvertKernels& convert = kernels::kernel_table(CpuIsa::kScalar).convert;
  kernels::dequantize_row(convert, type, bytes.data(), static_cast<int64_t>(out.size()), scale,
                          out.data());
  return {};
}

float row_scale(const TensorView& view, int64_t row) {
  if (view.row_scales.empty()) return 1;
  float scale;
  std::memcpy(&scale, view.row_scales.data() + row * 4, sizeof scale);
  return scale;
}

std::span<const std::byte> row_bytes(const TensorView& view, int64_t row) {
  const auto size = static_cast<size_t>(dtype_bytes(view.dtype, view.row_elements()));
  return view.bytes.subspan(static_cast<size_t>(row) * size, size);
}

}  // namespace

TensorView slice_rows(const TensorView& view, int64_t first, int64_t count) {
  const auto row = static_cast<size_t>(dtype_bytes(view.dtype, view.row_elements()));
  TensorView out = view;
  out.dims[0] = count;
  out.bytes =
      view.bytes.subspan(static_cast<size_t>(first) * row, static_cast<size_t>(count) * row);
  if (!view.row_scales.empty()) {
    out.row_scales =
        view.row_scales.subspan(static_cast<size_t>(first) * 4, static_cast<size_t>(count) * 4);
  }
  return out;
}

TensorView zero_vector(int64_t n) {
  return {.dtype = DType::kF32, .dims = {n}, .bytes = {}, .row_scales = {}};
}

bool is_zero(const TensorView& view) {
  std::vector<float> values(static_cast<size_t>(view.elements()));
  return view.bytes.empty() ||
         (read_elements(view.dtype, view.bytes, 1, values).ok() &&
          std::all_of(values.begin(), values.end(), [](float v) { return v == 0; }));
}

StackedTensor StackedTensor::as_column() const {
  StackedTensor out = *this;
  for (TensorView& part : out.parts_)
    part.dims.push_back(1);
  return out;
}

std::vector<int64_t> StackedTensor::dims() const {
  std::vector<int64_t> out = parts_[0].dims;
  for (size_t i = 1; i < parts_.size(); ++i)
    out[0] += parts_[i].dims[0];
  return out;
}

int64_t StackedTensor::row_elements() const {
  const std::vector<int64_t> all = dims();
  if (all.size() == 1) return all[0];
  return parts_[0].row_elements();
}

bool StackedTensor::has_dtype(DType dtype) const {
  return std::all_of(parts_.begin(), parts_.end(),
                     [&](const TensorView& part) { return part.dtype == dtype; });
}

const TensorView& StackedTensor::part_of(int64_t& row) const {
  size_t i = 0;
  for (; row >= parts_[i].rows(); ++i)
    row -= parts_[i].rows();
  return parts_[i];
}

Status StackedTensor::read_row(int64_t row, std::span<float> out) const {
  if (parts_[0].dims.size() > 1) {
    const TensorView& part = part_of(row);
    if (part.dtype == DType::kI8 && part.row_scales.empty()) {
      return unsupported("it is int8 without a scale for each row");
    }
    return read_elements(part.dtype, row_bytes(part, row), row_scale(part, row), out);
  }
  for (const TensorView& part : parts_) {
    const auto n = static_cast<size_t>(part.elements());
    if (part.bytes.empty()) {
      std::fill_n(out.begin(), n, 0.0f);
    } else {
      SOTTO_RETURN_IF_ERROR(read_elements(part.dtype, part.bytes, 1, out.first(n)));
    }
    out = out.subspan(n);
  }
  return {};
}

void StackedTensor::copy_row(int64_t row, std::span<std::byte> out) const {
  const TensorView& part = part_of(row);
  std::ranges::copy(row_bytes(part, row), out.begin());
}

}  // namespace sotto::convert
