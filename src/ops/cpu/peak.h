// Measured peak rates of this machine, which the rates of operations are compared with.
#ifndef SOTTO_OPS_CPU_PEAK_H_
#define SOTTO_OPS_CPU_PEAK_H_

#include <map>
#include <string>

#include "kernels/gemm.h"
#include "ops/cpu/context.h"

namespace sotto::ops::cpu {

/// "f32", "bf16", "int8".
const char* type_name(kernels::GemmType type);

/// GFLOP/s (int8: GOP/s) of all threads together, by type_name().
std::map<std::string, double> measure_peaks(Context& context);

}  // namespace sotto::ops::cpu

#endif  // SOTTO_OPS_CPU_PEAK_H_
