// The vectors of the instruction set that the including file is compiled for.
#ifndef SOTTO_KERNELS_X86_64_VEC_INL_H_
#define SOTTO_KERNELS_X86_64_VEC_INL_H_

#if defined(__AVX512F__)
#include "kernels/x86_64/vec_avx512-inl.h"
#else
#include "kernels/x86_64/vec_avx2-inl.h"
#endif

#endif  // SOTTO_KERNELS_X86_64_VEC_INL_H_
