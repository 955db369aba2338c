#include <algorithm>
#include <cstring>

#include "base/float16.h"
#include "npu/sim/kernel_table.h"

namespace sotto::npu {
namespace {

constexpr size_t kParameterWords = 4;

struct MatrixTile {
  int64_t rows, cols;
  int64_t block_rows, block_cols;  ///< Blocks stand row by row, each row-major
};

// Copies between a blocked tile and row-major f32.
template <typename T, typename ToFloat>
void unblock(const T* in, const MatrixTile& tile, float* out, ToFloat convert) {
  for (int64_t br = 0; br < tile.rows; br += tile.block_rows) {
    for (int64_t bc = 0; bc < tile.cols; bc += tile.block_cols) {
      for (int64_t r = 0; r < tile.block_rows; ++r) {
        float* row = out + (br + r) * tile.cols + bc;
        for (int64_t c = 0; c < tile.block_cols; ++c)
          row[c] = convert(*in++);
      }
    }
  }
}

template <typename T, typename FromFloat>
void block(const float* in, const MatrixTile& tile, T* out, FromFloat convert) {
  for (int64_t br = 0; br < tile.rows; br += tile.block_rows) {
    for (int64_t bc = 0; bc < tile.cols; bc += tile.block_cols) {
      for (int64_t r = 0; r < tile.block_rows; ++r) {
        const float* row = in + (br + r) * tile.cols + bc;
        for (int64_t c = 0; c < tile.block_cols; ++c)
          *out++ = convert(row[c]);
      }
    }
  }
}

float from_bf16(Bf16 v) {
  return to_float(v);
}
float same(float v) {
  return v;
}

Status zero(std::span<const KernelArgument> arguments) {
  std::memset(arguments[0].memory.data(), 0, arguments[0].memory.size());
  return {};
}

// C [m, n] += A [m, k] B [k, n], all blocked; sums in f32 in the order of k.
Status matmul(std::span<const KernelArgument> arguments, MmulShape shape) {
  if (arguments[0].type->shape.size() != 2 || arguments[1].type->shape.size() != 2) {
    return invalid_argument("matmul needs two-dimensional objects");
  }
  const int64_t m = arguments[0].type->shape[0];
  const int64_t k = arguments[0].type->shape[1];
  const int64_t n = arguments[1].type->shape[1];
  std::vector<float> a(static_cast<size_t>(m * k));
  std::vector<float> b(static_cast<size_t>(k * n));
  std::vector<float> c(static_cast<size_t>(m * n));
  const MatrixTile c_tile{m, n, shape.r, shape.t};
  unblock(arguments[0].as<Bf16>(), {m, k, shape.r, shape.s}, a.data(), from_bf16);
  unblock(arguments[1].as<Bf16>(), {k, n, shape.s, shape.t}, b.data(), from_bf16);
  const bool wide = arguments[2].type->element == ElementType::kF32;
  if (wide) {
    unblock(arguments[2].as<float>(), c_tile, c.data(), same);
  } else {
    unblock(arguments[2].as<Bf16>(), c_tile, c.data(), from_bf16);
  }
  for (int64_t i = 0; i < m; ++i) {
    float* row = c.data() + i * n;
    for (int64_t kk = 0; kk < k; ++kk) {
      const float factor = a[static_cast<size_t>(i * k + kk)];
      const float* other = b.data() + kk * n;
      for (int64_t j = 0; j < n; ++j)
        row[j] += factor * other[j];
    }
  }
  if (wide) {
    block(c.data(), c_tile, arguments[2].as<float>(), same);
  } else {
    block(c.data(), c_tile, arguments[2].as<Bf16>(), [](float v) { return to_bf16(v); });
  }
  return {};
}

// Stores the f32 accumulator: mode 0 as it is; other modes as bf16, in the half of the object that
// `half` names, with blocks r x 2t in the place of r x t.
Status epilogue(std::span<const KernelArgument> arguments, MmulShape shape) {
  const int64_t mode = arguments[2].scalar;
  const int64_t half = arguments[3].scalar;
  const int64_t m = arguments[0].type->shape[0];
  const int64_t n = arguments[0].type->shape[1];
  if (mode == 0) {
    std::memcpy(arguments[1].memory.data(), arguments[0].memory.data(), arguments[0].memory.size());
    return {};
  }
  if (half < 0 || half > 1 || n % (2 * shape.t) != 0)
    return invalid_argument("epilogue: bad half or width");
  std::vector<float> rows(static_cast<size_t>(m * n));
  unblock(arguments[0].as<float>(), {m, n, shape.r, shape.t}, rows.data(), same);
  const int64_t wide = 2 * shape.t;
  const int64_t blocks_per_half = n / wide;
  Bf16* out = arguments[1].as<Bf16>();
  for (int64_t br = 0; br < m / shape.r; ++br) {
    for (int64_t bc = 0; bc < blocks_per_half; ++bc) {
      Bf16* target = out + ((br * 2 + half) * blocks_per_half + bc) * shape.r * wide;
      for (int64_t r = 0; r < shape.r; ++r) {
        for (int64_t c = 0; c < wide; ++c) {
          target[r * wide + c] =
              to_bf16(rows[static_cast<size_t>((br * shape.r + r) * n + bc * wide + c)]);
        }
      }
    }
  }
  return {};
}

Status read_header(std::span<const KernelArgument> arguments) {
  std::memcpy(arguments[1].memory.data(), arguments[0].memory.data(), kParameterWords * 4);
  return {};
}

// out = in + 1 over the first `n` elements, in the types of the objects.
Status copy_plus_one(std::span<const KernelArgument> arguments) {
  const int64_t n = arguments[2].scalar;
  if (n < 0 || n > arguments[0].type->elements() || n > arguments[1].type->elements()) {
    return invalid_argument("row kernel: more elements than its objects hold");
  }
  for (int64_t i = 0; i < n; ++i) {
    const float x = arguments[0].type->element == ElementType::kF32
                        ? arguments[0].as<float>()[i]
                        : to_float(arguments[0].as<Bf16>()[i]);
    if (arguments[1].type->element == ElementType::kF32) {
      arguments[1].as<float>()[i] = x + 1;
    } else {
      arguments[1].as<Bf16>()[i] = to_bf16(x + 1);
    }
  }
  return {};
}

// Matrix-unit steps at full rate; memory-bound kernels at 16 elements a cycle.
double matmul_cycles(std::span<const KernelArgument> arguments, int macs_per_cycle) {
  return static_cast<double>(arguments[0].type->elements() * arguments[1].type->shape[1]) /
         macs_per_cycle;
}
double vector_cycles(std::span<const KernelArgument> arguments) {
  constexpr double kLanes = 16;
  return static_cast<double>(arguments[0].type->elements()) / kLanes;
}

}  // namespace

KernelTable functional_kernels(GenerationId id) {
  const Generation& g = generation(id);
  const MmulShape shape = g.mmul_bf16;
  const int macs = g.bf16_macs_per_cycle;
  KernelTable table;
  const SimKernel clear{zero, {0}, vector_cycles};
  table["zero_f32"] = clear;
  table["zero_bf16"] = clear;
  const SimKernel product{
      [shape](std::span<const KernelArgument> a) { return matmul(a, shape); },
      {},
      [macs](std::span<const KernelArgument> a) { return matmul_cycles(a, macs); }};
  table["matmul_bf16_f32"] = product;
  table["matmul_bf16_bf16"] = product;
  table["epilogue"] = {[shape](std::span<const KernelArgument> a) { return epilogue(a, shape); },
                       {1},
                       vector_cycles};
  table["read_header"] = {read_header, {1}, {}};
  table["softmax_row"] = {copy_plus_one, {1}, vector_cycles};
  table["gelu_row"] = {copy_plus_one, {1}, vector_cycles};
  return table;
}

}  // namespace sotto::npu
