#include "cli/commands.h"

namespace sotto::cli {

void register_commands(Program& program) {
  register_transcribe(program);
  register_serve(program);
  register_status(program);
  register_vad(program);
  register_pull(program);
  register_list(program);
  register_show(program);
  register_remove(program);
  register_convert(program);
  register_bench(program);
  register_npu(program);
  register_worker(program);
  register_version(program);
}

}  // namespace sotto::cli
