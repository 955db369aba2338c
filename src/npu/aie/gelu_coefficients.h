// Coefficients of GELU's correction q (gelu.h), written by `sotto npu gelu-fit`; a test
// makes them again from testdata/gelu_histogram.txt.
#ifndef SOTTO_NPU_AIE_GELU_COEFFICIENTS_H_
#define SOTTO_NPU_AIE_GELU_COEFFICIENTS_H_

#include "npu/aie/arch.h"

namespace SOTTO_AIE_NAMESPACE {

inline constexpr int kGeluPieces = 3;
inline constexpr int kGeluTerms = 5;

struct GeluPiece {
  float end;                       // Of the piece; it begins where the one before ends
  float shift, scale;              // u = (s - shift) * scale
  float coefficients[kGeluTerms];  // Highest degree first; bf16 values
};

inline constexpr GeluPiece kGelu[kGeluPieces] = {
    {1, 0.5F, 2, {-0.0020446777F, -0.013000488F, 0.07714844F, -0.06640625F, -0.15429688F}},
    {2, 1.5F, 2, {0.0021514893F, -0.007171631F, -0.0039978027F, 0.063964844F, -0.100097656F}},
    {4, 3, 1, {-0.002822876F, 0.0107421875F, -0.015991211F, 0.012023926F, -0.0040283203F}},
};

}  // namespace SOTTO_AIE_NAMESPACE

#endif  // SOTTO_NPU_AIE_GELU_COEFFICIENTS_H_
