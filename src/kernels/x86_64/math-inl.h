// Elementary functions over vectors.
// Coefficients: least-squares fits at Chebyshev points, weighted for the stated error
// (tools/fit_polynomials.py).
#ifndef SOTTO_KERNELS_X86_64_MATH_INL_H_
#define SOTTO_KERNELS_X86_64_MATH_INL_H_

#include "kernels/x86_64/vec-inl.h"

namespace sotto::kernels {
namespace {

// 2^x. Relative error below 2e-7; 0 below 2^-126.
inline Vec exp2_vec(Vec x) {
  const Vec whole = round_even(x);
  const Vec f = sub(x, whole);
  Vec p = set1(0.00132764717f);
  p = fma(p, f, set1(0.00967554154f));
  p = fma(p, f, set1(0.0555071328f));
  p = fma(p, f, set1(0.240221197f));
  p = fma(p, f, set1(0.693146967f));
  p = fma(p, f, set1(1.00000007f));
  return scale_by_power(p, whole);
}

constexpr float kLog2E = 1.44269504f;

// x * Phi(x) = x / 2 * (1 + erf(x / sqrt 2)), where erf(x / sqrt 2) = x * p(x^2) for |x| <= 5.2 and
// +-1 beyond. Error below 1e-6 * max(1, |x|).
inline Vec gelu_vec(Vec x) {
  constexpr float kLimit = 5.2f;
  const Vec clamped = vmax(vmin(x, set1(kLimit)), set1(-kLimit));
  const Vec u = fma(mul(clamped, clamped), set1(2.0f / (kLimit * kLimit)), set1(-1.0f));
  Vec p = set1(0.00209534934f);
  p = fma(p, u, set1(-0.00536885048f));
  p = fma(p, u, set1(0.00483245989f));
  p = fma(p, u, set1(-0.00618186444f));
  p = fma(p, u, set1(0.015841755f));
  p = fma(p, u, set1(-0.0268864828f));
  p = fma(p, u, set1(0.0365144152f));
  p = fma(p, u, set1(-0.0489485216f));
  p = fma(p, u, set1(0.0638521739f));
  p = fma(p, u, set1(-0.0799157449f));
  p = fma(p, u, set1(0.100058753f));
  p = fma(p, u, set1(-0.13548556f));
  p = fma(p, u, set1(0.271899869f));
  const Vec half = mul(x, set1(0.5f));
  return fma(half, mul(clamped, p), half);
}

}  // namespace
}  // namespace sotto::kernels

#endif  // SOTTO_KERNELS_X86_64_MATH_INL_H_
