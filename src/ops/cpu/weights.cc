#include "ops/cpu/weights.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "kernels/dequantize.h"

namespace sotto::ops::cpu {
namespace {

using kernels::GemmType;

std::string shape_text(const TensorView& view) {
  std::string text = std::string(dtype_info(view.dtype).name) + " [";
  for (size_t i = 0; i < view.dims.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(view.dims[i]);
  return text + "]";
}

// Everything that reading rows relies on.
Status check_readable(const TensorView& view, const std::string& name) {
  if (!kernels::can_dequantize(view.dtype)) {
    return unsupported(name + ": weights of type " + std::string(dtype_info(view.dtype).name) +
                       " cannot be used; convert the model to f16, bf16, int8 or q4_0..q8_0");
  }
  if (std::any_of(view.dims.begin(), view.dims.end(), [](int64_t d) { return d <= 0; }) ||
      dtype_bytes(view.dtype, view.row_elements()) < 0 ||
      dtype_bytes(view.dtype, view.elements()) != static_cast<int64_t>(view.bytes.size())) {
    return corrupt(name + ": " + shape_text(view) + " does not match its " +
                   std::to_string(view.bytes.size()) + " bytes");
  }
  if (view.dtype == DType::kI8 && static_cast<int64_t>(view.row_scales.size()) != view.rows() * 4) {
    return corrupt(name + ": int8 weights need one scale a row");
  }
  return {};
}

// Row i of the outermost dimension.
void read_row(const kernels::ConvertKernels& convert, const TensorView& view, int64_t i,
              float* out) {
  float scale = 1;
  if (view.dtype == DType::kI8) std::memcpy(&scale, view.row_scales.data() + i * 4, 4);
  const int64_t n = view.row_elements();
  kernels::dequantize_row(convert, view.dtype, view.bytes.data() + i * dtype_bytes(view.dtype, n),
                          n, scale, out);
}

Result<std::vector<float>> read_vector(const Context& context, const TensorView& view, int64_t n,
                                       const std::string& name) {
  SOTTO_RETURN_IF_ERROR(check_readable(view, name));
  if (view.elements() != n || view.dtype == DType::kI8) {
    return corrupt(name + ": " + shape_text(view) + " where a vector of " + std::to_string(n) +
                   " was expected");
  }
  std::vector<float> out(static_cast<size_t>(n));
  kernels::dequantize_row(context.kernels.convert, view.dtype, view.bytes.data(), n, 1, out.data());
  return out;
}

// Adding the lowest bit of the exponent carries into the sign only from an exponent of all ones.
bool all_finite(const float* values, int64_t n) {
  constexpr uint32_t kExponent = 0x7f800000U, kLowest = 0x00800000U, kSign = 0x80000000U;
  std::array<uint32_t, 4> found{};  // As wide as a vector register of every x86-64 machine
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    std::array<uint32_t, 4> bits;
    std::memcpy(bits.data(), values + i, sizeof(bits));
    for (size_t lane = 0; lane < bits.size(); ++lane)
      found[lane] |= (bits[lane] & kExponent) + kLowest;
  }
  for (; i < n; ++i)
    found[0] |= (std::bit_cast<uint32_t>(values[i]) & kExponent) + kLowest;
  return ((found[0] | found[1] | found[2] | found[3]) & kSign) == 0;
}

// Converts rows of f32 to the type of a product and packs them panel by panel.
class PanelPacker {
 public:
  PanelPacker(Context& context, CpuLinear& weight, int64_t row_elements)
      : context_(context),
        weight_(weight),
        row_elements_(row_elements),
        cols_(context.kernels.gemm(weight.type).tile_cols),
        words_(weight.depth / kernels::gemm_depth(weight.type)) {}

  [[nodiscard]] int64_t panel_bytes() const { return cols_ * words_ * 4; }
  [[nodiscard]] int64_t panels() const { return (weight_.out + cols_ - 1) / cols_; }
  /// One panel's rows in the type of the product, one row as f32 and one as it was read.
  [[nodiscard]] int64_t workspace_bytes() const {
    return panel_bytes() + 2 * round_up(row_elements_ * 4, kAlignment);
  }

  /// Whether all that has been packed is.
  [[nodiscard]] bool finite() const { return finite_; }

  // read(row, buffer, spare) writes `row_elements` values of output row `row` to buffer.
  void pack(int64_t panel, int worker, const auto& read) {
    auto* codes = context_.workspaces[static_cast<size_t>(worker)].as<std::byte>();
    auto* values = reinterpret_cast<float*>(codes + panel_bytes());
    float* spare = values + round_up(row_elements_, kAlignment / 4);
    const int64_t first = panel * cols_;
    const int64_t count = std::min(cols_, weight_.out - first);
    std::memset(codes, 0, static_cast<size_t>(panel_bytes()));
    for (int64_t j = 0; j < count; ++j) {
      read(first + j, values, spare);
      if (!all_finite(values, row_elements_)) finite_ = false;
      convert_row(values, first + j, codes + j * words_ * 4);
    }
    context_.kernels.pack.words(reinterpret_cast<const uint32_t*>(codes), words_, count, words_,
                                cols_, weight_.panels.as<uint32_t>() + panel * cols_ * words_);
  }

 private:
  void convert_row(const float* values, int64_t row, std::byte* out) {
    const auto& convert = context_.kernels.convert;
    const auto r = static_cast<size_t>(row);
    switch (weight_.type) {
      case GemmType::kF32:
        std::memcpy(out, values, static_cast<size_t>(row_elements_) * 4);
        break;
      case GemmType::kBf16:
        convert.f32_to_bf16(values, row_elements_, reinterpret_cast<uint16_t*>(out));
        break;
      case GemmType::kInt8:
        convert.quantize_s8(values, row_elements_, reinterpret_cast<int8_t*>(out),
                            &weight_.scale[r], &weight_.sum[r]);
        break;
    }
  }

  Context& context_;
  CpuLinear& weight_;
  int64_t row_elements_, cols_, words_;
  std::atomic<bool> finite_ = true;
};

// Checks the parts of `source` against each other and reads the biases. Weights have `dims`
// dimensions.
Status prepare(Context& context, const LinearSource& source, size_t dims, CpuLinear& weight) {
  weight.name = source.name;
  if (source.weights.empty()) return invalid_argument(source.name + ": no weights given");
  if (!source.biases.empty() && source.biases.size() != source.weights.size()) {
    return invalid_argument(source.name + ": " + std::to_string(source.biases.size()) +
                            " biases for " + std::to_string(source.weights.size()) + " weights");
  }
  bool any_bias = false;
  for (size_t i = 0; i < source.weights.size(); ++i) {
    const TensorView& view = source.weights[i];
    SOTTO_RETURN_IF_ERROR(check_readable(view, source.name));
    if (view.dims.size() != dims || view.row_elements() != source.weights[0].row_elements()) {
      return corrupt(source.name + ": part " + std::to_string(i) + " has the shape " +
                     shape_text(view));
    }
    weight.out += view.rows();
    any_bias = any_bias || (!source.biases.empty() && !source.biases[i].bytes.empty());
  }
  if (!any_bias) return {};
  for (size_t i = 0; i < source.weights.size(); ++i) {
    const int64_t rows = source.weights[i].rows();
    std::vector<float> bias(static_cast<size_t>(rows));
    if (!source.biases[i].bytes.empty()) {
      SOTTO_ASSIGN_OR_RETURN(bias,
                             read_vector(context, source.biases[i], rows, source.name + " (bias)"));
    }
    weight.bias.insert(weight.bias.end(), bias.begin(), bias.end());
  }
  return {};
}

// The part that holds output row `row`, and its row there.
std::pair<const TensorView*, int64_t> locate(const LinearSource& source, int64_t row) {
  size_t part = 0;
  while (row >= source.weights[part].rows())
    row -= source.weights[part++].rows();
  return {&source.weights[part], row};
}

Status pack_all(Context& context, CpuLinear& weight, int64_t row_elements, const auto& read) {
  weight.depth = round_up(row_elements, kernels::gemm_depth(weight.type));
  if (weight.type == GemmType::kInt8) {
    if (weight.depth > kernels::kMaxInt8Depth) {
      return unsupported(weight.name + ": " + std::to_string(row_elements) +
                         " inputs are too many for int8 sums");
    }
    weight.scale.resize(static_cast<size_t>(weight.out));
    weight.sum.resize(static_cast<size_t>(weight.out));
  }
  PanelPacker packer(context, weight, row_elements);
  SOTTO_ASSIGN_OR_RETURN(weight.panels, Buffer::allocate(packer.panels() * packer.panel_bytes()));
  SOTTO_RETURN_IF_ERROR(context.reserve_workspaces(packer.workspace_bytes()));
  context.pool.parallel_for(packer.panels(),
                            [&](int64_t panel, int worker) { packer.pack(panel, worker, read); });
  return packer.finite() ? Status() : corrupt(weight.name + ": the weights hold NaN or infinity");
}

}  // namespace

void CpuTable::read(const Context& context, int64_t i, float* out) const {
  read_row(context.kernels.convert, view, i, out);
}

Result<LinearRef> upload_linear(Context& context, const LinearSource& source) {
  auto weight = std::make_shared<CpuLinear>();
  SOTTO_RETURN_IF_ERROR(prepare(context, source, 2, *weight));
  const bool too_coarse = source.feed_forward && source.many_rows;
  weight->type = too_coarse ? context.float_type() : context.linear_type();
  weight->in = source.weights[0].dims[1];
  SOTTO_RETURN_IF_ERROR(
      pack_all(context, *weight, weight->in, [&](int64_t row, float* out, float*) {
        const auto [view, i] = locate(source, row);
        read_row(context.kernels.convert, *view, i, out);
      }));
  return LinearRef(std::move(weight));
}

Result<LinearRef> upload_conv1d(Context& context, const LinearSource& source) {
  auto weight = std::make_shared<CpuLinear>();
  SOTTO_RETURN_IF_ERROR(prepare(context, source, 3, *weight));
  weight->in = source.weights[0].dims[1];
  weight->conv_width = source.weights[0].dims[2];
  // Rows of the gathered input start at multiples of `in` elements, which must be whole words.
  const bool whole_words = weight->in % kernels::gemm_depth(context.float_type()) == 0;
  weight->type = whole_words ? context.float_type() : GemmType::kF32;
  const int64_t in = weight->in;
  const int64_t width = weight->conv_width;
  // [in, width] -> [width, in]: the order in which consecutive input rows lie in memory.
  SOTTO_RETURN_IF_ERROR(
      pack_all(context, *weight, in * width, [&](int64_t row, float* out, float* spare) {
        const auto [view, i] = locate(source, row);
        read_row(context.kernels.convert, *view, i, spare);
        for (int64_t w = 0; w < width; ++w) {
          for (int64_t j = 0; j < in; ++j)
            out[w * in + j] = spare[j * width + w];
        }
      }));
  return LinearRef(std::move(weight));
}

Result<NormRef> upload_norm(Context& context, const TensorView& gamma, const TensorView& beta) {
  auto norm = std::make_shared<CpuNorm>();
  norm->dim = gamma.elements();
  SOTTO_ASSIGN_OR_RETURN(norm->gamma, read_vector(context, gamma, norm->dim, "layer norm scale"));
  if (!beta.bytes.empty()) {
    SOTTO_ASSIGN_OR_RETURN(norm->beta, read_vector(context, beta, norm->dim, "layer norm shift"));
  }
  return NormRef(std::move(norm));
}

Result<TableRef> upload_table(const TensorView& rows) {
  SOTTO_RETURN_IF_ERROR(check_readable(rows, "table"));
  if (rows.dims.size() != 2)
    return corrupt("table: " + shape_text(rows) + " where [rows, cols] was expected");
  auto table = std::make_shared<CpuTable>();
  table->view = rows;
  table->rows = rows.dims[0];
  table->cols = rows.dims[1];
  return TableRef(std::move(table));
}

}  // namespace sotto::ops::cpu
