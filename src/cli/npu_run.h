// `sotto npu run`: a named design on random data in the simulator, against a plain reference.
#ifndef SOTTO_CLI_NPU_RUN_H_
#define SOTTO_CLI_NPU_RUN_H_

#include <cstdint>

#include "npu/library/catalogue.h"
#include "npu/sim/array_sim.h"
#include "sotto/status.h"

namespace sotto::cli {

struct NpuRunReport {
  bool exact = false;        ///< Every run gave the reference's bits
  npu::LaunchReport launch;  ///< Of the last run
  int64_t instruction_bytes = 0;
  double host_seconds = 0;  ///< Of the simulation alone
};

/// Small integers as data, so that every sum is exact and the comparison is for equality. GELU, exp
/// and softmax are replaced by plain copies here: what runs is the dataflow, the launch protocol
/// and the instruction stream.
Result<NpuRunReport> run_npu_design(const npu::NamedDesign& named, int runs, uint64_t seed,
                                    int threads);

}  // namespace sotto::cli

#endif  // SOTTO_CLI_NPU_RUN_H_
