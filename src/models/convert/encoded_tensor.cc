#include "models/convert/encoded_tensor.h"

#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "models/formats/ctranslate2_types.h"
#include "models/formats/encode.h"

namespace sotto::convert {
namespace {

/// Row `row` as f32, for rows of any length.
Result<std::vector<float>> read_row(const StackedTensor& source, int64_t row) {
  std::vector<float> out(static_cast<size_t>(source.row_elements()));
  SOTTO_RETURN_IF_ERROR(source.read_row(row, out));
  return out;
}

Result<float> finite_row_scale(std::span<const float> row) {
  const float scale = models::int8_row_scale(row);
  for (const float v : row) {
    if (!std::isfinite(v)) return corrupt("it holds NaN or infinity");
  }
  return scale;
}

}  // namespace

models::OutputTensor encoded(const PlannedTensor& tensor, DType dtype) {
  const StackedTensor source = tensor.source;
  const bool copy = dtype_info(dtype).block_elements > 1 && source.has_dtype(dtype);
  const auto write_row = [source, dtype, copy](int64_t row, std::span<std::byte> out) -> Status {
    if (copy) {
      source.copy_row(row, out);
      return {};
    }
    SOTTO_ASSIGN_OR_RETURN(const std::vector<float> values, read_row(source, row));
    if (models::encode_row(dtype, values, out)) return {};
    return corrupt("it holds a value that is not finite or does not fit " +
                   std::string(dtype_info(dtype).name) +
                   "; choose another type (bf16 and f32 have the widest range)");
  };
  return {tensor.name, dtype, source.dims(), write_row};
}

std::vector<models::OutputTensor> int8_rows(const PlannedTensor& tensor) {
  const StackedTensor source = tensor.source;
  const int64_t rows = source.dims()[0];
  const auto write_row = [source](int64_t row, std::span<std::byte> out) -> Status {
    SOTTO_ASSIGN_OR_RETURN(const std::vector<float> values, read_row(source, row));
    SOTTO_ASSIGN_OR_RETURN(const float scale, finite_row_scale(values));
    models::encode_int8_row(values, scale, out);
    return {};
  };
  const auto write_scales = [source, rows](int64_t, std::span<std::byte> out) -> Status {
    for (int64_t row = 0; row < rows; ++row) {
      SOTTO_ASSIGN_OR_RETURN(const std::vector<float> values, read_row(source, row));
      SOTTO_ASSIGN_OR_RETURN(const float scale, finite_row_scale(values));
      std::memcpy(out.data() + static_cast<size_t>(row) * sizeof scale, &scale, sizeof scale);
    }
    return {};
  };
  return {{tensor.name, DType::kI8, source.dims(), write_row},
          {tensor.name + models::kCTranslate2ScaleSuffix, DType::kF32, {rows}, write_scales}};
}

void make_stoppable(std::vector<models::OutputTensor>& tensors,
                    const std::function<bool()>& should_stop) {
  if (!should_stop) return;
  for (models::OutputTensor& tensor : tensors) {
    tensor.write_row = [write_row = std::move(tensor.write_row), should_stop](
                           int64_t row, std::span<std::byte> out) {
      return should_stop() ? cancelled("the conversion was stopped") : write_row(row, out);
    };
  }
}

}  // namespace sotto::convert
