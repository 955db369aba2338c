// `sotto npu plan`: what an encoder pass costs on the array, predicted.
#ifndef SOTTO_CLI_NPU_PLAN_H_
#define SOTTO_CLI_NPU_PLAN_H_

#include <cstdint>
#include <string>

namespace sotto::cli {

struct NpuPlanOptions {
  std::string model = "large-v3", plan = "universal";
  int64_t audio_ctx = 1500;
};

/// Returns the exit code.
int run_npu_plan(const NpuPlanOptions& options, const std::string& target, bool json);

}  // namespace sotto::cli

#endif  // SOTTO_CLI_NPU_PLAN_H_
