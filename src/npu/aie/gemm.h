// C [M, N] += A [M, K] x B [K, N] in one core, operands in blocks of the matrix unit.
//
// Blocks stand row by row of blocks, each row-major: A of [r, s], B of [s, t], C of [r, t]. The
// memory tiles' layout transforms make and undo that order (npu/library/gemm_array.cc).
#ifndef SOTTO_NPU_AIE_GEMM_H_
#define SOTTO_NPU_AIE_GEMM_H_

#include <aie_api/aie.hpp>

#include "npu/aie/arch.h"

namespace SOTTO_AIE_NAMESPACE {

/// kBlock x kBlock accumulators stay in registers over the whole of K. Their indices are known
/// after unrolling: an index known only at run time would send them through memory.
template <typename Unit, int kBlock, int kM, int kK, int kN, typename In, typename Out>
inline void multiply_blocks(const In* __restrict a, const In* __restrict b, Out* __restrict c) {
  constexpr int kRows = kM / Unit::rows;
  constexpr int kDepth = kK / Unit::depth;
  constexpr int kCols = kN / Unit::cols;
  static_assert(kRows % kBlock == 0 && kCols % kBlock == 0);
  using Mmul = typename Unit::Mmul;
  constexpr int kSizeA = Mmul::size_A;
  constexpr int kSizeB = Mmul::size_B;
  constexpr int kSizeC = Mmul::size_C;
  for (int i = 0; i < kRows; i += kBlock) {
    for (int j = 0; j < kCols; j += kBlock) {
      Mmul sum[kBlock][kBlock];
      SOTTO_AIE_UNROLL
      for (int y = 0; y < kBlock; ++y) {
        SOTTO_AIE_UNROLL
        for (int x = 0; x < kBlock; ++x)
          sum[y][x] = Mmul(aie::load_v<kSizeC>(c + ((i + y) * kCols + j + x) * kSizeC));
      }
      for (int k = 0; k < kDepth; ++k) {
        aie::vector<In, kSizeA> rows[kBlock];
        aie::vector<In, kSizeB> cols[kBlock];
        SOTTO_AIE_UNROLL
        for (int y = 0; y < kBlock; ++y) {
          rows[y] = aie::load_v<kSizeA>(a + ((i + y) * kDepth + k) * kSizeA);
          cols[y] = aie::load_v<kSizeB>(b + (k * kCols + j + y) * kSizeB);
        }
        SOTTO_AIE_UNROLL
        for (int y = 0; y < kBlock; ++y) {
          SOTTO_AIE_UNROLL
          for (int x = 0; x < kBlock; ++x)
            sum[y][x].mac(rows[y], cols[x]);
        }
      }
      SOTTO_AIE_UNROLL
      for (int y = 0; y < kBlock; ++y) {
        SOTTO_AIE_UNROLL
        for (int x = 0; x < kBlock; ++x)
          aie::store_v(c + ((i + y) * kCols + j + x) * kSizeC, sum[y][x].template to_vector<Out>());
      }
    }
  }
}

template <int kM, int kK, int kN>
inline void matmul_bf16_f32(const bfloat16* __restrict a, const bfloat16* __restrict b,
                            float* __restrict c) {
  multiply_blocks<Bf16Unit, Bf16Unit::block, kM, kK, kN>(a, b, c);
}

/// int8 operands, sums in int32.
template <int kM, int kK, int kN>
inline void matmul_i8_i32(const int8_t* __restrict a, const int8_t* __restrict b,
                          int32_t* __restrict c) {
  multiply_blocks<Int8Unit, Int8Unit::block, kM, kK, kN>(a, b, c);
}

template <typename T, int kElements>
inline void zero_tile(T* __restrict c) {
  constexpr int kLanes = 16;
  for (int i = 0; i < kElements; i += kLanes)
    aie::store_v(c + i, aie::zeros<T, kLanes>());
}

}  // namespace SOTTO_AIE_NAMESPACE

#endif  // SOTTO_NPU_AIE_GEMM_H_
