#include "ops/cpu/activation.h"

#include <algorithm>
#include <cstring>

namespace sotto::ops::cpu {
namespace {

using kernels::GemmType;

// Below this many elements a conversion is quicker than waking the workers.
constexpr int64_t kSerialElements = 16384;

// Runs fn(row, worker) for every row.
void for_rows(Context& context, int64_t rows, int64_t cols, const auto& fn) {
  const bool serial = rows * cols <= kSerialElements;
  const int64_t blocks = serial ? 1 : std::min<int64_t>(rows, int64_t{4} * context.pool.size());
  context.pool.parallel_for(blocks, [&](int64_t b, int worker) {
    for (int64_t i = rows * b / blocks; i < rows * (b + 1) / blocks; ++i)
      fn(i, worker);
  });
}

}  // namespace

template <typename T>
Result<Matrix<T>> make_matrix(Context& context, int64_t rows, int64_t cols, int64_t halo) {
  Matrix<T> m;
  const auto size = static_cast<int64_t>(sizeof(T));
  m.ld = halo > 0 ? cols : round_up(cols, kAlignment / size);
  m.halo = halo;
  // A product may read whole words beyond the last row of a convolution.
  const int64_t elements = (rows + 2 * halo) * m.ld + kAlignment / size;
  SOTTO_ASSIGN_OR_RETURN(m.buffer, context.buffers->acquire(elements * size));
  T* start = m.buffer.template as<T>();
  m.data = start + halo * m.ld;
  std::fill_n(start, halo * m.ld, T{});
  std::fill_n(m.data + rows * m.ld, halo * m.ld + kAlignment / size, T{});
  if (m.ld > cols) {
    for (int64_t i = 0; i < rows; ++i)
      std::fill(m.row(i) + cols, m.row(i) + m.ld, T{});
  }
  return m;
}

template Result<Matrix<float>> make_matrix(Context&, int64_t, int64_t, int64_t);
template Result<Matrix<uint16_t>> make_matrix(Context&, int64_t, int64_t, int64_t);

Status make_u8(Context& context, int64_t rows, int64_t cols, CpuActivation& out) {
  SOTTO_ASSIGN_OR_RETURN(out.u8, make_matrix<uint8_t>(context, rows, cols));
  SOTTO_ASSIGN_OR_RETURN(out.u8_scale, context.buffers->acquire(rows * 4));
  SOTTO_ASSIGN_OR_RETURN(out.u8_zero, context.buffers->acquire(rows * 4));
  return {};
}

Result<CpuActivation*> storage_of(const Activation& x, const char* op) {
  auto* storage = dynamic_cast<CpuActivation*>(x.storage());
  if (storage == nullptr)
    return invalid_argument(std::string(op) + ": the activation was not made by the CPU backend");
  return storage;
}

void read_row(const Context& context, const CpuActivation& x, int64_t row, int64_t cols,
              float* out) {
  if (x.f32.present()) {
    std::memcpy(out, x.f32.row(row), static_cast<size_t>(cols) * sizeof(float));
  } else if (x.bf16.present()) {
    context.kernels.convert.bf16_to_f32(x.bf16.row(row), cols, out);
  } else {
    const float scale = x.u8_scale.as<float>()[row];
    const int32_t zero = x.u8_zero.as<int32_t>()[row];
    const uint8_t* codes = x.u8.row(row);
    for (int64_t i = 0; i < cols; ++i)
      out[i] = static_cast<float>(codes[i] - zero) * scale;
  }
}

Result<Rows> rows_as(Context& context, const Activation& x, GemmType type, const char* op) {
  SOTTO_ASSIGN_OR_RETURN(CpuActivation* const from, storage_of(x, op));
  const CpuActivation* have = from;
  Rows out;
  const bool ready = (type == GemmType::kF32 && from->f32.present()) ||
                     (type == GemmType::kBf16 && from->bf16.present()) ||
                     (type == GemmType::kInt8 && from->u8.present());
  if (!ready) {
    auto made = std::make_shared<CpuActivation>();
    const int64_t rows = x.rows();
    const int64_t cols = x.cols();
    if (type == GemmType::kF32) {
      SOTTO_ASSIGN_OR_RETURN(made->f32, make_matrix<float>(context, rows, cols));
    } else if (type == GemmType::kBf16) {
      SOTTO_ASSIGN_OR_RETURN(made->bf16, make_matrix<uint16_t>(context, rows, cols));
    } else {
      SOTTO_RETURN_IF_ERROR(make_u8(context, rows, cols, *made));
    }
    const bool direct = type != GemmType::kF32 && from->f32.present();
    SOTTO_RETURN_IF_ERROR(context.reserve_workspaces(cols * 4));
    const auto& convert = context.kernels.convert;
    for_rows(context, rows, cols, [&](int64_t i, int worker) {
      float* row = type == GemmType::kF32
                       ? made->f32.row(i)
                       : context.workspaces[static_cast<size_t>(worker)].as<float>();
      if (!direct) read_row(context, *from, i, cols, row);
      const float* values = from->f32.present() ? from->f32.row(i) : row;
      if (type == GemmType::kBf16) convert.f32_to_bf16(values, cols, made->bf16.row(i));
      if (type == GemmType::kInt8) {
        convert.quantize_u8(values, cols, made->u8.row(i), made->u8_scale.as<float>() + i,
                            made->u8_zero.as<int32_t>() + i);
      }
    });
    have = made.get();
    out.owner = std::move(made);
  }
  switch (type) {
    case GemmType::kF32:
      out.data = have->f32.data;
      out.ld = have->f32.ld;
      break;
    case GemmType::kBf16:
      out.data = have->bf16.data;
      out.ld = have->bf16.ld;
      break;
    case GemmType::kInt8:
      out.data = have->u8.data;
      out.ld = have->u8.ld;
      out.scale = have->u8_scale.as<float>();
      out.zero = have->u8_zero.as<int32_t>();
      break;
  }
  return out;
}

}  // namespace sotto::ops::cpu
