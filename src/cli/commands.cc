#include "cli/commands.h"

namespace sotto::cli {

void register_commands(Program& program) {
  register_npu(program);
  register_version(program);
}

}  // namespace sotto::cli
