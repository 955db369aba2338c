// GELU(x) = max(x, 0) + q(|x|) with q(s) = -(s/2) erfc(s/sqrt2), bounded and gone beyond 4: three
// polynomials of degree 4 on pieces centred at zero, coefficients fitted to real activations
// (gelu_coefficients.h). Centring is what lets bf16 hold the coefficients.
#ifndef SOTTO_NPU_AIE_GELU_H_
#define SOTTO_NPU_AIE_GELU_H_

#include <aie_api/aie.hpp>

#include "npu/aie/arch.h"
#include "npu/aie/gelu_coefficients.h"

namespace SOTTO_AIE_NAMESPACE {

/// One piece: Horner in u = (s - shift) * scale; the state is f32 and is rounded to bf16 only as an
/// operand of the next step.
inline Bf16x16 gelu_piece(const Bf16x16& s, const GeluPiece& piece) {
  const Bf16x16 u =
      aie::mul(aie::sub(s, all(piece.shift)), all(piece.scale)).template to_vector<bfloat16>();
  Acc16 state(all(piece.coefficients[0]));
  SOTTO_AIE_UNROLL
  for (int i = 1; i < kGeluTerms; ++i) {
    state = aie::mac(Acc16(all(piece.coefficients[i])), state.template to_vector<bfloat16>(), u);
  }
  return state.template to_vector<bfloat16>();
}

/// q(|x|) of a bf16 argument, from the outermost piece inwards.
inline Bf16x16 gelu_correction(const Bf16x16& x) {
  const Bf16x16 s = aie::max(x, aie::neg(x));
  Bf16x16 q = aie::zeros<bfloat16, 16>();
  SOTTO_AIE_UNROLL
  for (int i = kGeluPieces - 1; i >= 0; --i)
    q = aie::select(q, gelu_piece(s, kGelu[i]), aie::lt(s, all(kGelu[i].end)));
  return q;
}

/// From the f32 sum: max(x, 0) keeps its low part, so that the result is rounded once.
inline Acc16 gelu_f32(const Acc16& x) {
  const Bf16x16 one = all(1);
  const Bf16x16 zero = aie::zeros<bfloat16, 16>();
  const Bf16x16 high = x.template to_vector<bfloat16>();
  const Bf16x16 low = aie::msc(x, high, one).template to_vector<bfloat16>();
  const auto positive = aie::lt(zero, high);
  const Acc16 part = aie::mac(Acc16(gelu_correction(high)), aie::select(zero, low, positive), one);
  return aie::mac(part, aie::select(zero, high, positive), one);
}

/// A row, from bf16 or, losing nothing of the sums, from f32; n a multiple of 16.
template <typename In>
inline void gelu_row(const In* __restrict in, bfloat16* __restrict out, int32_t n) {
  aie::set_rounding(aie::rounding_mode::conv_even);
  for (int32_t i = 0; i < n; i += 16)
    aie::store_v(out + i, gelu_f32(Acc16(aie::load_v<16>(in + i))).template to_vector<bfloat16>());
}

}  // namespace SOTTO_AIE_NAMESPACE

#endif  // SOTTO_NPU_AIE_GELU_H_
