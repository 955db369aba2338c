// The kernels of npu/aie compiled for the host: plain functions, one table an instruction set and
// generation. Shapes are template arguments of the kernels; a function answers false for a shape
// that no design of npu/library uses.
#ifndef SOTTO_NPU_AIE_HOST_HOST_KERNELS_H_
#define SOTTO_NPU_AIE_HOST_HOST_KERNELS_H_

#include <stdint.h>

namespace sotto::npu {

struct HostKernels {
  /// Puts the core into its state after reset; `rounding` is the register's code.
  void (*reset)(uint8_t rounding, bool floor_truncates, float exp_aliases_below);
  bool (*zero)(int64_t bytes, void* c);
  bool (*matmul_bf16_f32)(int64_t m, int64_t k, int64_t n, const void* a, const void* b, void* c);
  bool (*matmul_i8_i32)(int64_t m, int64_t k, int64_t n, const void* a, const void* b, void* c);
  bool (*epilogue)(int64_t m, int64_t n, void* sums, void* out, int mode, int half);
  void (*read_header)(const void* header, void* parameters);
  /// Rows of n elements, n a multiple of 16. `form` counts the versions of softmax from 0.
  void (*softmax_row)(int form, const void* in, void* out, int32_t n);
  void (*layer_norm_row)(const void* in, void* out, int32_t n);
  void (*gelu_row_bf16)(const void* in, void* out, int32_t n);
  void (*gelu_row_f32)(const void* in, void* out, int32_t n);
};

const HostKernels& host_kernels_aie2_plain();
const HostKernels& host_kernels_aie2_avx2();
const HostKernels& host_kernels_aie2_avx512();

}  // namespace sotto::npu

#endif  // SOTTO_NPU_AIE_HOST_HOST_KERNELS_H_
