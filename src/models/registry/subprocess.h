// Running another program without a shell.
#ifndef SOTTO_MODELS_REGISTRY_SUBPROCESS_H_
#define SOTTO_MODELS_REGISTRY_SUBPROCESS_H_

#include <functional>
#include <string>
#include <vector>

#include "sotto/status.h"

namespace sotto::registry {

struct ProcessResult {
  int exit_code = 0;   ///< 128 + N when signal N ended it
  std::string output;  ///< The end of its standard output and standard error, as they came
};

/// The full path of a program on $PATH, or "".
std::string find_program(const std::string& name);

/// Runs `arguments[0]` (a path) with the others as its arguments, standard input empty, and waits.
/// When should_stop (may be empty) says so, the process and its children are ended and kCancelled
/// is returned.
Result<ProcessResult> run_process(const std::vector<std::string>& arguments,
                                  const std::function<bool()>& should_stop);

}  // namespace sotto::registry

#endif  // SOTTO_MODELS_REGISTRY_SUBPROCESS_H_
