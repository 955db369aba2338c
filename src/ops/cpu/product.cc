#include "ops/cpu/product.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace sotto::ops::cpu {
namespace {

using kernels::GemmArgs;
using kernels::GemmKernel;
using kernels::GemmType;

// A block of rows of A stays in the second-level cache while all panels pass by.
constexpr int64_t kBlockBytes = int64_t{192} << 10;
// Below this many rows the weights are the larger operand: each thread takes its own columns.
constexpr int64_t kFewRows = 64;
constexpr int64_t kTasksPerThread = 4;

const void* advance(const void* base, GemmType type, int64_t elements) {
  return static_cast<const std::byte*>(base) + elements * element_bytes(type);
}

// The part of `args` for rows [row, row + m) and columns [col, col + n).
GemmArgs part(const GemmArgs& args, GemmType type, int64_t row, int64_t m, int64_t col, int64_t n) {
  GemmArgs p = args;
  p.m = m;
  p.n = n;
  p.a = advance(args.a, type, row * args.lda);
  p.w = advance(args.w, type, col * args.k);
  if (args.a_scale != nullptr) {
    p.a_scale += row;
    p.a_zero += row;
    p.w_scale += col;
    p.w_sum += col;
  }
  if (args.bias != nullptr) p.bias += col;
  if (args.residual != nullptr) p.residual += row * args.ld_residual + col;
  if (args.c != nullptr) p.c += row * args.ldc + col;
  if (args.c16 != nullptr) p.c16 += row * args.ldc16 + col;
  return p;
}

// Rows of A a task takes at once.
int64_t block_rows(const GemmKernel& kernel, int64_t row_bytes) {
  return std::max<int64_t>(1, kBlockBytes / row_bytes / kernel.tile_rows) * kernel.tile_rows;
}

std::string shape_text(int64_t rows, int64_t cols) {
  return "[" + std::to_string(rows) + ", " + std::to_string(cols) + "]";
}

Status check_input(const char* op, const CpuLinear& w, const Activation& x) {
  if (x.cols() == w.in && x.rows() > 0) return {};
  return invalid_argument(std::string(op) + " " + w.name + ": input " +
                          shape_text(x.rows(), x.cols()) + " for weights " +
                          shape_text(w.out, w.in));
}

// Lets the product add `residual`, which has the shape of its result.
Status add_residual(Context& context, const Activation& residual, int64_t rows, const CpuLinear& w,
                    Rows& keep, GemmArgs& args) {
  if (residual.rows() != rows || residual.cols() != w.out) {
    return invalid_argument("linear " + w.name + ": residual " +
                            shape_text(residual.rows(), residual.cols()) + " for a result " +
                            shape_text(rows, w.out));
  }
  SOTTO_ASSIGN_OR_RETURN(keep, rows_as(context, residual, GemmType::kF32, "linear"));
  args.residual = static_cast<const float*>(keep.data);
  args.ld_residual = keep.ld;
  return {};
}

}  // namespace

GemmArgs product_args(const Rows& rows, int64_t m, const CpuLinear& w) {
  GemmArgs args;
  args.m = m;
  args.n = w.out;
  args.k = w.depth;
  args.a = rows.data;
  args.lda = rows.ld;
  args.w = w.panels.as<std::byte>();
  if (w.type == GemmType::kInt8) {
    args.a_scale = rows.scale;
    args.a_zero = rows.zero;
    args.w_scale = w.scale.data();
    args.w_sum = w.sum.data();
  }
  args.bias = w.bias.empty() ? nullptr : w.bias.data();
  return args;
}

Status run_product(Context& context, const CpuLinear& w, const GemmArgs& args) {
  const GemmKernel& kernel = context.kernels.gemm(w.type);
  const int64_t wanted = kTasksPerThread * context.pool.size();
  const int64_t rows =
      args.m <= kFewRows ? args.m : block_rows(kernel, args.k * element_bytes(w.type));
  const int64_t row_blocks = (args.m + rows - 1) / rows;
  const int64_t panels = (args.n + kernel.tile_cols - 1) / kernel.tile_cols;
  const int64_t col_blocks =
      row_blocks >= wanted ? 1 : std::min(panels, (wanted + row_blocks - 1) / row_blocks);
  SOTTO_RETURN_IF_ERROR(
      context.reserve_workspaces(kernels::gemm_scratch_bytes(w.type, rows, args.k)));
  context.pool.parallel_for(row_blocks * col_blocks, [&](int64_t task, int worker) {
    const int64_t row = task / col_blocks * rows;
    const int64_t c = task % col_blocks;
    const int64_t first = panels * c / col_blocks * kernel.tile_cols;
    const int64_t last = std::min(args.n, panels * (c + 1) / col_blocks * kernel.tile_cols);
    GemmArgs p = part(args, w.type, row, std::min(rows, args.m - row), first, last - first);
    p.scratch = context.workspaces[static_cast<size_t>(worker)].as<void>();
    kernel.run(p);
  });
  return {};
}

Result<Activation> linear(Context& context, const Activation& x, const CpuLinear& w,
                          const Epilogue& epilogue) {
  SOTTO_RETURN_IF_ERROR(check_input("linear", w, x));
  SOTTO_ASSIGN_OR_RETURN(const Rows rows, rows_as(context, x, w.type, "linear"));
  GemmArgs args = product_args(rows, x.rows(), w);
  args.gelu = epilogue.gelu;
  Rows residual;
  if (epilogue.residual != nullptr) {
    SOTTO_RETURN_IF_ERROR(add_residual(context, *epilogue.residual, x.rows(), w, residual, args));
  }
  auto out = std::make_shared<CpuActivation>();
  if (epilogue.feeds_products && context.float_type() == GemmType::kBf16) {
    SOTTO_ASSIGN_OR_RETURN(out->bf16, make_matrix<uint16_t>(context, x.rows(), w.out));
    args.c16 = out->bf16.data;
    args.ldc16 = out->bf16.ld;
  } else {
    SOTTO_ASSIGN_OR_RETURN(out->f32, make_matrix<float>(context, x.rows(), w.out));
    args.c = out->f32.data;
    args.ldc = out->f32.ld;
  }
  SOTTO_RETURN_IF_ERROR(run_product(context, w, args));
  return Activation(x.rows(), w.out, std::move(out));
}

namespace {

// The input of a convolution as rows without gaps between them, zero rows around.
template <typename T>
Result<Matrix<T>> gapless(Context& context, const CpuActivation& from, int64_t rows, int64_t cols,
                          int64_t halo) {
  SOTTO_ASSIGN_OR_RETURN(Matrix<T> to, make_matrix<T>(context, rows, cols, halo));
  std::vector<float> row(static_cast<size_t>(cols));
  for (int64_t i = 0; i < rows; ++i) {
    if constexpr (sizeof(T) == sizeof(float)) {
      read_row(context, from, i, cols, to.row(i));
    } else {
      read_row(context, from, i, cols, row.data());
      context.kernels.convert.f32_to_bf16(row.data(), cols, to.row(i));
    }
  }
  return to;
}

template <typename T>
Status run_conv1d(Context& context, const Matrix<T>& have, const CpuActivation& from, int64_t rows,
                  const CpuLinear& w, int stride, GemmArgs args) {
  const int64_t halo = w.conv_width / 2;
  Matrix<T> made;
  const Matrix<T>* input = &have;
  if (!have.present() || have.halo < halo || have.ld != w.in) {
    SOTTO_ASSIGN_OR_RETURN(made, gapless<T>(context, from, rows, w.in, halo));
    input = &made;
  }
  // Row t of the product is the conv_width consecutive input rows from t * stride - halo on.
  args.a = input->data - halo * w.in;
  args.lda = stride * w.in;
  return run_product(context, w, args);
}

}  // namespace

Result<Activation> conv1d_gelu(Context& context, const Activation& x, const CpuLinear& w,
                               int stride, const CpuTable* add) {
  SOTTO_RETURN_IF_ERROR(check_input("conv1d", w, x));
  if (w.conv_width % 2 != 1 || stride < 1) {
    return invalid_argument("conv1d " + w.name + ": width " + std::to_string(w.conv_width) +
                            ", stride " + std::to_string(stride) +
                            "; an odd width uploaded by upload_conv1d is needed");
  }
  const int64_t rows = (x.rows() + stride - 1) / stride;
  SOTTO_ASSIGN_OR_RETURN(const CpuActivation* const from, storage_of(x, "conv1d"));
  auto out = std::make_shared<CpuActivation>();
  GemmArgs args = product_args(Rows{}, rows, w);
  args.gelu = true;
  if (add != nullptr) {
    if (add->rows < rows || add->cols != w.out) {
      return invalid_argument("conv1d " + w.name + ": a table " + shape_text(add->rows, add->cols) +
                              " cannot be added to " + shape_text(rows, w.out));
    }
    SOTTO_ASSIGN_OR_RETURN(out->f32, make_matrix<float>(context, rows, w.out));
    for (int64_t i = 0; i < rows; ++i)
      add->read(context, i, out->f32.row(i));
    args.residual = args.c = out->f32.data;
    args.ld_residual = args.ldc = out->f32.ld;
  } else if (context.float_type() == GemmType::kBf16) {
    // Only the next convolution reads it.
    SOTTO_ASSIGN_OR_RETURN(out->bf16,
                           make_matrix<uint16_t>(context, rows, w.out, w.conv_width / 2));
    args.c16 = out->bf16.data;
    args.ldc16 = out->bf16.ld;
  } else {
    SOTTO_ASSIGN_OR_RETURN(out->f32, make_matrix<float>(context, rows, w.out, w.conv_width / 2));
    args.c = out->f32.data;
    args.ldc = out->f32.ld;
  }
  SOTTO_RETURN_IF_ERROR(w.type == GemmType::kBf16
                            ? run_conv1d(context, from->bf16, *from, x.rows(), w, stride, args)
                            : run_conv1d(context, from->f32, *from, x.rows(), w, stride, args));
  return Activation(rows, w.out, std::move(out));
}

namespace {

// Both layers over one block of rows after the other, so that the hidden rows never leave the
// cache.
Status fused_mlp(Context& context, const Rows& rows, int64_t m, const CpuLinear& w1,
                 const CpuLinear& w2, const GemmArgs& second) {
  const GemmKernel& kernel = context.kernels.gemm(w1.type);
  const GemmArgs first = product_args(rows, m, w1);
  // int8 codes need the whole f32 row first.
  const int64_t hidden_bytes = w1.out * (w2.type == GemmType::kBf16 ? 2 : 4);
  const int64_t fit = block_rows(kernel, hidden_bytes);
  const int64_t per_thread =
      round_up((m + context.pool.size() - 1) / context.pool.size(), kernel.tile_rows);
  const int64_t block = std::min(fit, per_thread);
  const int64_t scratch = round_up(std::max(kernels::gemm_scratch_bytes(w1.type, block, w1.depth),
                                            kernels::gemm_scratch_bytes(w2.type, block, w2.depth)),
                                   kAlignment);
  const int64_t codes = w2.type == GemmType::kInt8 ? round_up(block * w2.depth, kAlignment) : 0;
  const int64_t side = round_up(block * 4, kAlignment);
  SOTTO_RETURN_IF_ERROR(
      context.reserve_workspaces(scratch + block * hidden_bytes + codes + 2 * side + kAlignment));
  context.pool.parallel_for((m + block - 1) / block, [&](int64_t task, int worker) {
    auto* memory = context.workspaces[static_cast<size_t>(worker)].as<std::byte>();
    auto* code_rows = reinterpret_cast<uint8_t*>(memory + scratch);
    auto* scale = reinterpret_cast<float*>(memory + scratch + codes);
    auto* zero = reinterpret_cast<int32_t*>(memory + scratch + codes + side);
    std::byte* hidden = memory + scratch + codes + 2 * side;
    const int64_t row = task * block;
    const int64_t count = std::min(block, m - row);
    GemmArgs p = part(first, w1.type, row, count, 0, w1.out);
    p.gelu = true;
    p.scratch = memory;
    if (w2.type == GemmType::kBf16) {
      p.c16 = reinterpret_cast<uint16_t*>(hidden);
      p.ldc16 = w1.out;
    } else {
      p.c = reinterpret_cast<float*>(hidden);
      p.ldc = w1.out;
    }
    kernel.run(p);
    GemmArgs q = part(second, w2.type, row, count, 0, w2.out);
    q.a = hidden;
    q.lda = w1.out;
    q.scratch = memory;
    if (w2.type == GemmType::kInt8) {
      for (int64_t i = 0; i < count; ++i) {
        context.kernels.convert.quantize_u8(reinterpret_cast<float*>(hidden) + i * w1.out, w1.out,
                                            code_rows + i * w2.depth, scale + i, zero + i);
      }
      q.a = code_rows;
      q.lda = w2.depth;
      q.a_scale = scale;
      q.a_zero = zero;
    }
    context.kernels.gemm(w2.type).run(q);
  });
  return {};
}

}  // namespace

Result<Activation> mlp(Context& context, const Activation& x, const CpuLinear& w1,
                       const CpuLinear& w2, const Activation& residual) {
  SOTTO_RETURN_IF_ERROR(check_input("mlp", w1, x));
  if (w2.in != w1.out) {
    return invalid_argument("mlp " + w1.name + ": its " + std::to_string(w1.out) +
                            " outputs do not fit " + w2.name + " with " + std::to_string(w2.in) +
                            " inputs");
  }
  // Whole words in the hidden rows are what the fused form relies on.
  if (x.rows() <= kFewRows || w2.depth != w2.in) {
    Epilogue gelu;
    gelu.gelu = true;
    SOTTO_ASSIGN_OR_RETURN(const Activation hidden, linear(context, x, w1, gelu));
    Epilogue add;
    add.residual = &residual;
    return linear(context, hidden, w2, add);
  }
  SOTTO_ASSIGN_OR_RETURN(const Rows rows, rows_as(context, x, w1.type, "mlp"));
  GemmArgs second = product_args(Rows{}, x.rows(), w2);
  Rows keep;
  SOTTO_RETURN_IF_ERROR(add_residual(context, residual, x.rows(), w2, keep, second));
  auto out = std::make_shared<CpuActivation>();
  SOTTO_ASSIGN_OR_RETURN(out->f32, make_matrix<float>(context, x.rows(), w2.out));
  second.c = out->f32.data;
  second.ldc = out->f32.ld;
  SOTTO_RETURN_IF_ERROR(fused_mlp(context, rows, x.rows(), w1, w2, second));
  return Activation(x.rows(), w2.out, std::move(out));
}

}  // namespace sotto::ops::cpu
