// Entry points of the row kernels. ROW_KERNEL says which: a core holds 16 KB of program, and an
// array needs one at a time.
#include "npu/aie/gelu.h"
#include "npu/aie/layer_norm.h"
#include "npu/aie/softmax.h"

#define ROW_SOFTMAX 1
#define ROW_GELU_F32 2
#define ROW_GELU_BF16 3
#define ROW_LAYER_NORM 4
#ifndef ROW_KERNEL
#define ROW_KERNEL ROW_SOFTMAX
#endif

extern "C" {

#if ROW_KERNEL == ROW_SOFTMAX
void softmax_row(const bfloat16* in, bfloat16* out, int32_t n) {
  using SOTTO_AIE_NAMESPACE::SoftmaxForm;
  SOTTO_AIE_NAMESPACE::softmax_row<SoftmaxForm::kNearest>(in, out, n);
}
#elif ROW_KERNEL == ROW_GELU_F32
void gelu_row(const float* in, bfloat16* out, int32_t n) {
  SOTTO_AIE_NAMESPACE::gelu_row(in, out, n);
}
#elif ROW_KERNEL == ROW_GELU_BF16
void gelu_row(const bfloat16* in, bfloat16* out, int32_t n) {
  SOTTO_AIE_NAMESPACE::gelu_row(in, out, n);
}
#else
void layer_norm_row(const bfloat16* in, bfloat16* out, int32_t n) {
  SOTTO_AIE_NAMESPACE::layer_norm_row(in, out, n);
}
#endif

}  // extern "C"
