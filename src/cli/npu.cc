// sotto npu: array designs, from a name or a file, without an NPU: list, write, verify, run,
// disassemble, draw.
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "cli/commands.h"
#include "cli/npu_accuracy.h"
#include "cli/npu_gelu_fit.h"
#include "cli/npu_plan.h"
#include "cli/npu_run.h"
#include "cli/output.h"
#include "npu/design/draw.h"
#include "npu/design/verify.h"
#include "npu/emit/emit.h"
#include "npu/emit/parse.h"
#include "npu/library/catalogue.h"
#include "npu/txn/disassemble.h"
#include "npu/txn/sequence.h"

namespace sotto::cli {
namespace {

using npu::Design;
using npu::Generation;

struct Options {
  std::string design, target = "npu1", output, dialect = "2026";
  bool json = false, rules = false, binary = false, text = false;
  int runs = 1, threads = 0;
  uint64_t seed = 1;
  GeluFitOptions gelu;
  NpuPlanOptions plan;
};

Result<std::vector<std::byte>> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return not_found("cannot read " + path);
  const std::vector<char> chars((std::istreambuf_iterator<char>(file)),
                                std::istreambuf_iterator<char>());
  if (file.bad()) return io_error("reading " + path + " failed");
  const auto bytes = std::as_bytes(std::span(chars));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

int print_or_write(const std::string& text, const std::string& path) {
  if (path.empty() || path == "-") return report(write_stdout(text), kExitProcessing);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) return report(io_error("cannot write " + path), kExitProcessing);
  return kExitOk;
}

/// A file of MLIR-AIE text, or a name of the catalogue.
Result<Design> load_design(const Options& options) {
  if (options.design.find(".mlir") != std::string::npos) {
    SOTTO_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, read_bytes(options.design));
    Result<Design> design = npu::parse_design(
        std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    if (!design.ok()) return design.status().with_context(options.design);
    return design;
  }
  SOTTO_ASSIGN_OR_RETURN(const npu::GenerationId target, npu::parse_generation(options.target));
  SOTTO_ASSIGN_OR_RETURN(npu::NamedDesign named, npu::design_by_name(options.design, target));
  return std::move(named.design);
}

int run_designs(const Options& options) {
  std::string text;
  nlohmann::json list = nlohmann::json::array();
  for (const npu::DesignForm& form : npu::design_forms()) {
    text += fmt::format("{:<20} {:<26} {}\n", form.form, form.example, form.meaning);
    list.push_back({{"form", form.form}, {"example", form.example}, {"meaning", form.meaning}});
  }
  return report(write_stdout(options.json ? nlohmann::json{{"designs", list}}.dump() + "\n" : text),
                kExitProcessing);
}

int run_emit(const Options& options) {
  Result<Design> design = load_design(options);
  if (!design.ok()) return report(design.status(), kExitInput);
  const std::vector<npu::Violation> found = npu::verify(*design);
  if (!found.empty())
    return report(internal_error(found[0].rule + ": " + found[0].message), kExitProcessing);
  if (options.binary) {
    if (design->sequences.size() != 1)
      return report(invalid_argument("the design has more than one sequence"), kExitUsage);
    Result<npu::LoweredArray> array = npu::lower(*design);
    if (!array.ok()) return report(array.status(), kExitProcessing);
    Result<npu::Stream> stream = npu::encode_sequence(design->sequences[0], *array);
    if (!stream.ok()) return report(stream.status(), kExitProcessing);
    const std::vector<uint32_t> words = npu::encode_stream(*stream);
    return print_or_write({reinterpret_cast<const char*>(words.data()), words.size() * 4},
                          options.output);
  }
  if (options.dialect != "2026" && options.dialect != "1.3.4") {
    return report(invalid_argument("unknown dialect '" + options.dialect + "'; use 2026 or 1.3.4"),
                  kExitUsage);
  }
  const auto dialect = options.dialect == "2026" ? npu::Dialect::k2026 : npu::Dialect::kV134;
  return print_or_write(npu::emit(*design, {dialect, options.design + " for " + options.target}),
                        options.output);
}

int run_verify(const Options& options) {
  if (options.rules) {
    std::string text;
    for (const npu::Rule& rule : npu::verifier_rules())
      text += fmt::format("{:<14} {}\n", rule.name, rule.meaning);
    return report(write_stdout(text), kExitProcessing);
  }
  if (options.design.empty()) {
    return report(
        invalid_argument("name a design or a .mlir file (`sotto npu designs` lists the names)"),
        kExitUsage);
  }
  Result<Design> design = load_design(options);
  if (!design.ok()) return report(design.status(), kExitInput);
  const std::vector<npu::Violation> found = npu::verify(*design);
  if (options.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const npu::Violation& v : found)
      list.push_back({{"rule", v.rule}, {"message", v.message}});
    const nlohmann::json body = {{"ok", found.empty()}, {"violations", list}};
    if (const int code = report(write_stdout(body.dump() + "\n"), kExitProcessing); code != kExitOk)
      return code;
  } else {
    std::string text;
    for (const npu::Violation& v : found)
      text += v.rule + ": " + v.message + "\n";
    if (found.empty()) text = "ok: no rule is broken\n";
    if (const int code = report(write_stdout(text), kExitProcessing); code != kExitOk) return code;
  }
  return found.empty() ? kExitOk : kExitProcessing;
}

int run_run(const Options& options) {
  Result<npu::GenerationId> target = npu::parse_generation(options.target);
  if (!target.ok()) return report(target.status(), kExitUsage);
  Result<npu::NamedDesign> named = npu::design_by_name(options.design, *target);
  if (!named.ok()) return report(named.status(), kExitUsage);
  Result<NpuRunReport> result = run_npu_design(*named, options.runs, options.seed, options.threads);
  if (!result.ok()) return report(result.status(), kExitProcessing);
  if (options.json) {
    const nlohmann::json body = {{"design", options.design},
                                 {"target", options.target},
                                 {"exact", result->exact},
                                 {"runs", options.runs},
                                 {"cycles", result->launch.cycles},
                                 {"ddr_bytes_read", result->launch.ddr_bytes_read},
                                 {"ddr_bytes_written", result->launch.ddr_bytes_written},
                                 {"stream_words", result->launch.stream_words},
                                 {"kernel_calls", result->launch.kernel_calls},
                                 {"instruction_bytes", result->instruction_bytes},
                                 {"host_seconds", result->host_seconds}};
    if (const int code = report(write_stdout(body.dump() + "\n"), kExitProcessing); code != kExitOk)
      return code;
  } else {
    const std::string text = fmt::format(
        "{} on {}: result {}\n"
        "  {:.0f} array cycles (timing model), {} instruction bytes\n"
        "  DDR: {} bytes read, {} written; {} words moved in all\n"
        "  host: {:.2f} s for {} run(s)\n",
        options.design, options.target,
        result->exact ? "equals the reference" : "DIFFERS from the reference",
        result->launch.cycles, result->instruction_bytes, result->launch.ddr_bytes_read,
        result->launch.ddr_bytes_written, result->launch.stream_words, result->host_seconds,
        options.runs);
    if (const int code = report(write_stdout(text), kExitProcessing); code != kExitOk) return code;
  }
  return result->exact ? kExitOk : kExitProcessing;
}

int run_disasm(const Options& options) {
  Result<std::vector<std::byte>> bytes = read_bytes(options.design);
  if (!bytes.ok()) return report(bytes.status(), kExitInput);
  Result<std::vector<uint32_t>> words = npu::words_from_bytes(*bytes);
  if (!words.ok()) return report(words.status().with_context(options.design), kExitInput);
  Result<std::string> listing = npu::disassemble(*words, nullptr);
  if (!listing.ok()) return report(listing.status().with_context(options.design), kExitInput);
  return print_or_write(*listing, options.output);
}

int run_draw(const Options& options) {
  Result<Design> design = load_design(options);
  if (!design.ok()) return report(design.status(), kExitInput);
  Result<npu::LoweredArray> array = npu::lower(*design);
  if (!array.ok()) return report(array.status(), kExitProcessing);
  const bool svg = !options.text && !options.output.empty() && options.output != "-";
  return print_or_write(svg ? npu::draw_svg(*design, *array) : npu::draw_text(*design, *array),
                        options.output);
}

int run_fit(const Options& options) {
  return run_gelu_fit(options.gelu);
}

int run_plan(const Options& options) {
  return run_npu_plan(options.plan, options.target, options.json);
}

int run_accuracy(const Options& options) {
  return run_npu_accuracy(options.gelu.models, options.design);
}

void add_plan(CLI::App& app, Options& options) {
  app.add_option("-m,--model", options.plan.model, "tiny, base, …, large-v3-turbo")
      ->capture_default_str();
  app.add_option("--plan", options.plan.plan, "universal or classic")->capture_default_str();
  app.add_option("--audio-ctx", options.plan.audio_ctx, "Encoder positions; 50 a second")
      ->capture_default_str()
      ->check(CLI::Range(1, 1500));
  app.add_option("--target", options.target, "npu1 (XDNA1) or npu2 (XDNA2)")->capture_default_str();
  app.add_flag("-j,--json", options.json, "As a JSON object");
}

void add_gelu_fit(CLI::App& app, GeluFitOptions& gelu) {
  app.add_option("audio", gelu.audio, "Recordings whose first 30 s the encoders hear")
      ->type_name("AUDIO");
  app.add_option("-m,--model", gelu.models, "Models: names, files or folders")
      ->type_name("MODEL")
      ->allow_extra_args(false);
  app.add_option("--from-histogram", gelu.from_histogram, "A histogram in place of recordings");
  app.add_option("--to-histogram", gelu.to_histogram, "Write what was measured to this file");
  app.add_option("-o,--output", gelu.output, "The header; - or nothing is standard output");
}

void add_design(CLI::App& app, Options& options, bool required) {
  app.add_option("design", options.design, "A name (`sotto npu designs`) or a .mlir file")
      ->type_name("DESIGN")
      ->required(required);
  app.add_option("--target", options.target, "npu1 (XDNA1) or npu2 (XDNA2)")->capture_default_str();
}

}  // namespace

void register_npu(Program& program) {
  auto options = std::make_shared<Options>();
  auto chosen = std::make_shared<std::function<int(const Options&)>>();
  CLI::App& npu_command =
      program.add_command("npu", "Array designs: list, write, verify, simulate, draw",
                          [options, chosen] { return (*chosen)(*options); });
  npu_command.require_subcommand(1);
  const auto add = [&](const char* name, const char* summary,
                       int (*run)(const Options&)) -> CLI::App& {
    CLI::App* app = npu_command.add_subcommand(name, summary);
    app->callback([chosen, run] { *chosen = run; });
    return *app;
  };
  CLI::App& designs = add("designs", "List the designs that can be built by name", run_designs);
  designs.add_flag("-j,--json", options->json, "As a JSON object");

  CLI::App& emit =
      add("emit", "Write a design as MLIR-AIE text, or its instruction stream", run_emit);
  add_design(emit, *options, true);
  emit.add_option("-o,--output", options->output, "File; - or nothing is standard output");
  emit.add_option("--dialect", options->dialect, "Compiler syntax: 2026 or 1.3.4")
      ->capture_default_str();
  emit.add_flag("--insts", options->binary, "The instruction stream (binary) in place of the text");

  CLI::App& verify = add("verify", "Check a design against the rules of the hardware", run_verify);
  add_design(verify, *options, false);
  verify.add_flag("-j,--json", options->json, "As a JSON object");
  verify.add_flag("--rules", options->rules, "List the rules");

  CLI::App& run = add(
      "run", "Run a design on random data in the simulator and compare with a reference", run_run);
  add_design(run, *options, true);
  run.add_option("--runs", options->runs, "Launches, one after another without reset")
      ->check(CLI::Range(1, 1000));
  run.add_option("--seed", options->seed, "Of the random data");
  run.add_option("-t,--threads", options->threads, "Host threads; 0: one a core")
      ->check(CLI::Range(0, 1024));
  run.add_flag("-j,--json", options->json, "As a JSON object");

  CLI::App& disasm =
      add("disasm", "List an instruction stream (insts.bin, or hexadecimal words)", run_disasm);
  disasm.add_option("file", options->design, "The stream")->type_name("FILE")->required();
  disasm.add_option("-o,--output", options->output, "File; - or nothing is standard output");

  CLI::App& draw = add("draw", "Draw a design: an SVG with -o, else a table", run_draw);
  add_design(draw, *options, true);
  draw.add_option("-o,--output", options->output, "SVG file");
  draw.add_flag("--text", options->text, "The table even with -o");

  CLI::App& accuracy =
      add("accuracy", "Compare the simulated encoder with f32, layer by layer", run_accuracy);
  accuracy.add_option("audio", options->design, "Recording; its first 30 s count")
      ->type_name("AUDIO")
      ->required();
  accuracy.add_option("-m,--model", options->gelu.models, "Models: names, files or folders")
      ->type_name("MODEL")
      ->allow_extra_args(false)
      ->required();
  add_plan(add("plan", "Predict the cost of an encoder pass on the array", run_plan), *options);
  add_gelu_fit(add("gelu-fit", "Fit the cores' GELU to a model's activations", run_fit),
               options->gelu);
}

}  // namespace sotto::cli
