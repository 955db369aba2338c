// `sotto npu accuracy`: the simulated encoder against f32, as a Markdown table.
#ifndef SOTTO_CLI_NPU_ACCURACY_H_
#define SOTTO_CLI_NPU_ACCURACY_H_

#include <string>
#include <vector>

namespace sotto::cli {

/// Returns the exit code.
int run_npu_accuracy(const std::vector<std::string>& models, const std::string& audio);

}  // namespace sotto::cli

#endif  // SOTTO_CLI_NPU_ACCURACY_H_
