// Which instruction sets this CPU has, and which one sotto is told to use.
#ifndef SOTTO_BASE_CPU_FEATURES_H_
#define SOTTO_BASE_CPU_FEATURES_H_

#include <string_view>

#include "sotto/status.h"

namespace sotto {

/// Instruction-set levels that kernels are written for, lowest first. Each includes all before it.
enum class CpuIsa {
  kScalar,      ///< Baseline x86-64: the scalar reference
  kAvx2,        ///< AVX2, FMA, F16C
  kAvx512,      ///< AVX-512 F, BW, DQ, VL
  kAvx512Vnni,  ///< plus VNNI (int8 dot products)
  kAvx512Bf16,  ///< plus BF16 dot products (Zen 4, Sapphire Rapids and later)
};

/// "scalar", "avx2", "avx512", "avx512_vnni", "avx512_bf16".
std::string_view cpu_isa_name(CpuIsa isa);

/// The highest level that this CPU and operating system support.
CpuIsa detected_cpu_isa();

/// The level to use: `forced` (the value of SOTTO_CPU) when it is not empty, else the detected one.
/// An unknown name, or one that the CPU lacks, is an error that lists the usable names.
Result<CpuIsa> select_cpu_isa(std::string_view forced);

/// select_cpu_isa() of the environment variable SOTTO_CPU.
Result<CpuIsa> cpu_isa_from_environment();

/// Physical cores this process may run on (its affinity mask, hyper-threads counted once, the
/// container's CPU quota respected); at least 1.
int physical_core_count();

}  // namespace sotto

#endif  // SOTTO_BASE_CPU_FEATURES_H_
