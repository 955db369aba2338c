// `sotto npu gelu-fit`: coefficients of the cores' GELU from real activations.
#ifndef SOTTO_CLI_NPU_GELU_FIT_H_
#define SOTTO_CLI_NPU_GELU_FIT_H_

#include <string>
#include <vector>

namespace sotto::cli {

struct GeluFitOptions {
  std::vector<std::string> models;  ///< Names of the store, files or folders
  std::vector<std::string> audio;
  std::string from_histogram;  ///< Read in place of models and recordings
  std::string to_histogram;    ///< Written
  std::string output;          ///< The header; empty or "-": standard output
};

/// Returns the exit code.
int run_gelu_fit(const GeluFitOptions& options);

}  // namespace sotto::cli

#endif  // SOTTO_CLI_NPU_GELU_FIT_H_
