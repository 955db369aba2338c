// sotto convert: Whisper models from one file format to another.
#include "sotto/convert.h"

#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/model_output.h"
#include "cli/output.h"
#include "cli/terminal.h"

namespace sotto::cli {
namespace {

struct Options {
  std::string model, output;
  ConvertOptions convert;
  bool json = false;
};

std::string summary(const ConvertResult& result) {
  return fmt::format("{}: {} tensors, {}\n", printable(result.files[0]), result.tensors,
                     size_text(result.bytes));
}

std::string summary_json(const ConvertResult& result) {
  return json_line({{"files", result.files}, {"tensors", result.tensors}, {"bytes", result.bytes}});
}

int run_convert(const Options& options) {
  const Result<ModelStore> store = ModelStore::open_default();
  if (!store.ok()) return report(store.status(), kExitModel);
  const Result<std::string> input = store->resolve(options.model, ModelKind::kWhisper);
  if (!input.ok()) return report(input.status(), kExitModel);
  const Result<ConvertResult> result = convert_model(*input, options.output, options.convert);
  if (!result.ok()) return report(result.status(), kExitModel);
  return report(write_stdout(options.json ? summary_json(*result) : summary(*result)),
                kExitProcessing);
}

}  // namespace

void register_convert(Program& program) {
  auto options = std::make_shared<Options>();
  options->convert.should_stop = interrupted;
  CLI::App& app = program.add_command("convert", "Convert a Whisper model to another file format",
                                      [options] { return run_convert(*options); });
  app.add_option("MODEL", options->model, "Name of an installed model, or a file or folder")
      ->required();
  app.add_option("OUTPUT", options->output,
                 "File to write (ggml), or folder (ctranslate2, safetensors)")
      ->required();
  app.add_option("--to", options->convert.format,
                 "Format: ggml (whisper.cpp), ct2 (CTranslate2, faster-whisper) or safetensors "
                 "(Transformers)")
      ->type_name("FORMAT")
      ->capture_default_str();
  app.add_option("--type", options->convert.type,
                 "Of the values. ggml: f32, f16, q8_0, q5_1, q5_0, q4_1, q4_0. ct2: f32, f16, "
                 "bf16, int8, int8_f16, "
                 "int8_bf16. safetensors: f32, f16, bf16")
      ->type_name("TYPE")
      ->capture_default_str();
  app.add_flag("-f,--force", options->convert.overwrite, "Replace files that exist");
  app.add_flag("-j,--json", options->json, "Print what was written as a JSON object");
}

}  // namespace sotto::cli
