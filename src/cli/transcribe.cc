// sotto transcribe: speech in audio and video files to text.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/remote_model.h"
#include "cli/terminal.h"
#include "cli/transcribe_args.h"
#include "cli/transcribe_display.h"
#include "cli/transcribe_job.h"
#include "cli/transcribe_output.h"
#include "sotto/models.h"
#include "sotto/transcribe.h"

namespace sotto::cli {
namespace {

/// What can be said of an input without decoding it.
Status check_input(const std::string& input) {
  if (input == kStandardStream) return {};
  struct stat info {};
  if (::stat(input.c_str(), &info) != 0) return status_from_errno(errno, printable(input));
  if (S_ISDIR(info.st_mode))
    return invalid_argument(printable(input) + ": is a folder, not a recording");
  if (::access(input.c_str(), R_OK) != 0) return status_from_errno(errno, printable(input));
  return {};
}

/// Which model is meant, by the rules of the store; --model_dir comes first.
Result<ModelInfo> find_model(const TranscribeArgs& args) {
  ModelInfo model;
  if (!args.model.empty() && !args.model_dir.empty()) {
    const std::filesystem::path beside = std::filesystem::path(args.model_dir) / args.model;
    std::error_code error;
    if (std::filesystem::exists(beside, error)) {
      model.name = args.model;
      model.path = beside.string();
      return model;
    }
  }
  SOTTO_ASSIGN_OR_RETURN(const ModelStore store, ModelStore::open_default());
  if (args.model.empty()) return store.best(ModelKind::kWhisper);
  model.name = args.model;
  SOTTO_ASSIGN_OR_RETURN(model.path, store.resolve(args.model, ModelKind::kWhisper));
  return model;
}

/// Resolves a detector that was named or is insisted on, so that its absence is known before hours
/// of work.
Status find_vad(TranscribeArgs& args) {
  const bool is_optional = args.options.vad_mode == VadMode::kAuto && args.vad.model == "auto";
  if (is_optional || args.options.vad_mode == VadMode::kOff) return {};
  SOTTO_ASSIGN_OR_RETURN(args.load.vad_model, find_vad_model(args.vad));
  return {};
}

/// What an English-only model cannot do.
Status check_language(const SpeechModel& model, const TranscribeOptions& options,
                      const std::string& name) {
  if (model.multilingual()) return {};
  const bool other_language = !options.language.empty() && options.language != "en";
  if (!other_language && options.task == Task::kTranscribe) return {};
  return invalid_argument(fmt::format(
      "the model {} knows only English\nuse one without .en, e.g. -m base", printable(name)));
}

ExitCode run_jobs(const TranscribeArgs& args, const std::vector<std::vector<OutputFile>>& plan,
                  const std::vector<bool>& is_readable, SpeechModel& model, Display& display,
                  ExitCode worst) {
  TranscribeJob job(args, plan, model, display);
  for (size_t i = 0; i < args.inputs.size() && !interrupted(); ++i) {
    if (is_readable[i]) worst = worse(worst, job.run(i));
    if (worst == kExitClosedPipe) return worst;
  }
  return interrupted() ? kExitInterrupted : worst;
}

ExitCode transcribe_inputs(TranscribeArgs& args, Display& display) {
  // Faults that need no model are found before one is loaded, and bad inputs do not stop the
  // others.
  if (args.inputs.empty()) {
    return display.failure(invalid_argument("no input\ngive a file, or '-' for standard input"),
                           kExitInput);
  }
  ExitCode worst = kExitOk;
  std::vector<bool> is_readable(args.inputs.size());
  for (size_t i = 0; i < args.inputs.size(); ++i) {
    const Status status = check_input(args.inputs[i]);
    is_readable[i] = status.ok();
    if (!status.ok()) worst = worse(worst, display.failure(status, kExitInput));
  }
  if (std::find(is_readable.begin(), is_readable.end(), true) == is_readable.end()) return worst;

  const Result<std::vector<std::vector<OutputFile>>> plan = plan_outputs(args);
  if (!plan.ok()) return display.failure(plan.status(), kExitUsage);
  const Result<std::unique_ptr<SpeechModel>> remote = choose_remote_model(args);
  if (!remote.ok()) return display.failure(remote.status(), kExitUsage);
  if (*remote != nullptr) {
    if (const Status outputs = prepare_outputs(*plan); !outputs.ok())
      return display.failure(outputs, kExitProcessing);
    display.note(fmt::format("transcribing at {}", printable((*remote)->description())));
    return run_jobs(args, *plan, is_readable, **remote, display, worst);
  }
  if (const Status device = check_device(args.load); !device.ok()) {
    const bool is_usage = device.code() == StatusCode::kInvalidArgument;
    return display.failure(device, is_usage ? kExitUsage : kExitDevice);
  }
  const Result<ModelInfo> found = find_model(args);
  if (!found.ok()) return display.failure(found.status(), kExitModel);
  if (const Status outputs = prepare_outputs(*plan); !outputs.ok())
    return display.failure(outputs, kExitProcessing);

  if (const Status vad = find_vad(args); !vad.ok()) return display.failure(vad, kExitModel);
  const Result<std::unique_ptr<SpeechModel>> model = SpeechModel::load(found->path, args.load);
  if (!model.ok()) return display.failure(model.status(), kExitModel);
  if (const Status language = check_language(**model, args.options, found->name); !language.ok()) {
    return display.failure(language, kExitUsage);
  }
  args.writer.model_type = found->name;
  args.writer.model_path = found->path;
  args.writer.model_multilingual = (*model)->multilingual();
  args.writer.model_sizes = (*model)->sizes();
  args.writer.system_info = (*model)->description();

  return run_jobs(args, *plan, is_readable, **model, display, worst);
}

int run_transcribe(const Program::Arguments& arguments) {
  TranscribeArgs args;
  if (const Status status = parse_transcribe_args(arguments, args); !status.ok()) {
    print_error(status);
    return kExitUsage;
  }
  if (args.help)
    return report(write_stdout(transcribe_help(terminal_width(stdout))), kExitProcessing);
  if (args.version)
    return report(write_stdout(fmt::format("sotto {}\n", version())), kExitProcessing);

  Display display(args.display);
  for (const std::string& note : args.notes)
    display.note(note);
  const ExitCode code = transcribe_inputs(args, display);
  if (!display.output_status().ok() && !stdout_closed()) {
    return display.failure(display.output_status(), worse(code, kExitProcessing));
  }
  return code;
}

}  // namespace

void register_transcribe(Program& program) {
  program.add_raw_command("transcribe", "Turn speech in audio and video files into text",
                          run_transcribe);
}

}  // namespace sotto::cli
