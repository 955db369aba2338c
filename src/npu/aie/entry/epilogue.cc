// Entry point of the universal array's epilogue. The object is declared as f32 [DIM_M, DIM_N]; the
// bf16 modes use it as two bf16 tiles.
#include "npu/aie/epilogue.h"

#ifndef DIM_M
#define DIM_M 64
#define DIM_N 32
#endif

extern "C" void epilogue(float* sums, float* out, int32_t mode, int32_t half) {
  SOTTO_AIE_NAMESPACE::epilogue<DIM_M, DIM_N>(sums, out, mode, half);
}
