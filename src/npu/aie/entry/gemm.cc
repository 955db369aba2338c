// Entry points of the product's object file; the tile's shape is given when it is compiled.
#include "npu/aie/gemm.h"

#ifndef DIM_M
#define DIM_M 64
#define DIM_K 64
#define DIM_N 32
#endif

extern "C" {

void zero_f32(float* c) {
  SOTTO_AIE_NAMESPACE::zero_tile<float, DIM_M * DIM_N>(c);
}

void matmul_bf16_f32(const bfloat16* a, const bfloat16* b, float* c) {
  SOTTO_AIE_NAMESPACE::matmul_bf16_f32<DIM_M, DIM_K, DIM_N>(a, b, c);
}

void zero_i32(int32_t* c) {
  SOTTO_AIE_NAMESPACE::zero_tile<int32_t, DIM_M * DIM_N>(c);
}

void matmul_i8_i32(const int8_t* a, const int8_t* b, int32_t* c) {
  SOTTO_AIE_NAMESPACE::matmul_i8_i32<DIM_M, DIM_K, DIM_N>(a, b, c);
}

}  // extern "C"
