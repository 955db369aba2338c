// One registration function a subcommand, each in the file of the same name.
#ifndef SOTTO_CLI_COMMANDS_H_
#define SOTTO_CLI_COMMANDS_H_

#include "cli/program.h"

namespace sotto::cli {

void register_transcribe(Program& program);
void register_serve(Program& program);
void register_vad(Program& program);
void register_pull(Program& program);
void register_list(Program& program);
void register_show(Program& program);
void register_remove(Program& program);
void register_convert(Program& program);
void register_bench(Program& program);
void register_npu(Program& program);
void register_status(Program& program);
void register_worker(Program& program);
void register_version(Program& program);

/// All of them, in the order in which `sotto help` lists them.
void register_commands(Program& program);

}  // namespace sotto::cli

#endif  // SOTTO_CLI_COMMANDS_H_
