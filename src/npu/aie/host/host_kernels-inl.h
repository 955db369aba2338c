// Body of host_kernels_*(): included once per generation and instruction set, after the macros
// SOTTO_AIE_HOST_ISA, SOTTO_AIE_ARCH and SOTTO_AIE_NAMESPACE. SOTTO_AIE_HOST_TABLE names the
// function.
#include "npu/aie/host/host_kernels.h"

#include "npu/aie/epilogue.h"
#include "npu/aie/gemm.h"
#include "npu/aie/layer_norm.h"
#include "npu/aie/softmax.h"

namespace SOTTO_AIE_NAMESPACE {
namespace {

void reset(uint8_t rounding, bool floor_truncates, float exp_aliases_below) {
  aie::HostCore& core = aie::host_core();
  core = {};
  core.rounding = static_cast<aie::rounding_mode>(rounding);
  core.floor_truncates = floor_truncates;
  core.exp_aliases_below = exp_aliases_below;
}

/// Tiles of npu/library: choose_gemm_tile.
template <int kM, int kK, int kN>
struct Tile {
  static constexpr int m = kM, k = kK, n = kN;
};
template <typename Visit>
bool with_tile(int64_t m, int64_t n, Visit visit) {
  if (m == 64 && n == 32) return visit(Tile<64, 64, 32>());
  if (m == 32 && n == 64) return visit(Tile<32, 64, 64>());
  if (m == 64 && n == 16) return visit(Tile<64, 64, 16>());
  return false;
}

bool zero(int64_t bytes, void* c) {
  if (bytes % 64 != 0) return false;
  auto* words = static_cast<float*>(c);
  for (int64_t i = 0; i < bytes / 64; ++i)
    zero_tile<float, 16>(words + 16 * i);
  return true;
}

bool matmul_float(int64_t m, int64_t k, int64_t n, const void* a, const void* b, void* c) {
  return with_tile(m, n, [&](auto tile) {
    using T = decltype(tile);
    if (k != T::k) return false;
    matmul_bf16_f32<T::m, T::k, T::n>(static_cast<const bfloat16*>(a),
                                      static_cast<const bfloat16*>(b), static_cast<float*>(c));
    return true;
  });
}

bool matmul_int(int64_t m, int64_t k, int64_t n, const void* a, const void* b, void* c) {
  if (m != 64 || k != 64 || n != 32) return false;
  matmul_i8_i32<64, 64, 32>(static_cast<const int8_t*>(a), static_cast<const int8_t*>(b),
                            static_cast<int32_t*>(c));
  return true;
}

bool run_epilogue(int64_t m, int64_t n, void* sums, void* out, int mode, int half) {
  return with_tile(m, n, [&](auto tile) {
    using T = decltype(tile);
    epilogue<T::m, T::n>(static_cast<float*>(sums), out, mode, half);
    return true;
  });
}

void run_read_header(const void* header, void* parameters) {
  read_header(header, static_cast<int32_t*>(parameters));
}

void run_softmax_row(int form, const void* in, void* out, int32_t n) {
  const auto* x = static_cast<const bfloat16*>(in);
  auto* y = static_cast<bfloat16*>(out);
  switch (form) {
    case 0:
      return softmax_row<SoftmaxForm::kBf16Reciprocal>(x, y, n);
    case 1:
      return softmax_row<SoftmaxForm::kSplitReciprocal>(x, y, n);
    case 2:
      return softmax_row<SoftmaxForm::kSplitBoth>(x, y, n);
    default:
      return softmax_row<SoftmaxForm::kNearest>(x, y, n);
  }
}

void run_layer_norm_row(const void* in, void* out, int32_t n) {
  layer_norm_row(static_cast<const bfloat16*>(in), static_cast<bfloat16*>(out), n);
}

template <typename In>
void run_gelu_row(const void* in, void* out, int32_t n) {
  gelu_row(static_cast<const In*>(in), static_cast<bfloat16*>(out), n);
}

}  // namespace
}  // namespace SOTTO_AIE_NAMESPACE

namespace sotto::npu {

const HostKernels& SOTTO_AIE_HOST_TABLE() {
  namespace kernels = SOTTO_AIE_NAMESPACE;
  static constexpr HostKernels kTable = {kernels::reset,
                                         kernels::zero,
                                         kernels::matmul_float,
                                         kernels::matmul_int,
                                         kernels::run_epilogue,
                                         kernels::run_read_header,
                                         kernels::run_softmax_row,
                                         kernels::run_layer_norm_row,
                                         kernels::run_gelu_row<bfloat16>,
                                         kernels::run_gelu_row<float>};
  return kTable;
}

}  // namespace sotto::npu
