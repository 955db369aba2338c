// How the CPU backend holds activations: one matrix in one or more precisions.
#ifndef SOTTO_OPS_CPU_ACTIVATION_H_
#define SOTTO_OPS_CPU_ACTIVATION_H_

#include <cstdint>
#include <memory>

#include "kernels/gemm.h"
#include "ops/backend.h"
#include "ops/cpu/context.h"

namespace sotto::ops::cpu {

/// [rows, ld] elements; columns from cols to ld are zero. `halo` zero rows lie before and behind.
template <typename T>
struct Matrix {
  Buffer buffer;
  T* data = nullptr;
  int64_t ld = 0;
  int64_t halo = 0;

  [[nodiscard]] bool present() const { return data != nullptr; }
  [[nodiscard]] T* row(int64_t i) const { return data + i * ld; }
};

struct CpuActivation final : ActivationStorage {
  // At least one is present.
  Matrix<float> f32;
  Matrix<uint16_t> bf16;
  Matrix<uint8_t> u8;
  Buffer u8_scale;  ///< f32 a row
  Buffer u8_zero;   ///< i32 a row
};

/// The rows of an activation in one precision, ready to multiply with.
struct Rows {
  const void* data = nullptr;
  int64_t ld = 0;
  const float* scale = nullptr;
  const int32_t* zero = nullptr;
  std::shared_ptr<CpuActivation>
      owner;  ///< Of converted rows; null when they are the activation's own
};

/// Makes room for [rows, cols]; ld is cols rounded up to whole cache lines. `halo` asks for ld ==
/// cols.
template <typename T>
Result<Matrix<T>> make_matrix(Context& context, int64_t rows, int64_t cols, int64_t halo = 0);

/// Room for the codes, scales and zeros of [rows, cols].
Status make_u8(Context& context, int64_t rows, int64_t cols, CpuActivation& out);

/// The storage of an activation that this backend made, or an error that names the operation.
Result<CpuActivation*> storage_of(const Activation& x, const char* op);

/// x in the precision of `type`; converted in parallel if it has another one.
Result<Rows> rows_as(Context& context, const Activation& x, kernels::GemmType type, const char* op);

/// One row as f32.
void read_row(const Context& context, const CpuActivation& x, int64_t row, int64_t cols,
              float* out);

}  // namespace sotto::ops::cpu

#endif  // SOTTO_OPS_CPU_ACTIVATION_H_
