// sotto bench: how fast a model transcribes recordings on this machine, by stage and by operation.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>

#include "cli/bench_report.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/model_output.h"
#include "cli/output.h"
#include "sotto/models.h"
#include "sotto/transcribe.h"

namespace sotto::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string model;
  std::vector<std::string> devices = {"auto"};
  std::string compute = "auto";
  std::string language;
  int threads = 0;
  int beam_size = TranscribeOptions().beam_size;
  int runs = 5, warmup = 1;
  bool json = false;
  bool paced = false;
};

/// A failure and the exit code for it.
struct Failure {
  Status status;
  ExitCode code = kExitOk;
};

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// The kernel's high-water mark of this process, which unlike getrusage()'s does not begin with
/// that of the program that started it.
double peak_rss_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    double kilobytes = 0;
    if (std::sscanf(line.c_str(), "VmHWM: %lf kB", &kilobytes) == 1) return kilobytes * 1024 / 1e6;
  }
  return 0;
}

/// Lets the mark start anew, for the next device. Where that is not allowed it stays.
void reset_peak_rss() {
  std::ofstream("/proc/self/clear_refs") << 5;
}

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {
    transcribe_.beam_size = options.beam_size;
  }

  int run() {
    if (!options_.language.empty()) {
      const Result<std::string> code = parse_language(options_.language);
      if (!code.ok()) return report(code.status(), kExitUsage);
      transcribe_.language = *code;
    }
    const Result<ModelStore> store = ModelStore::open_default();
    if (!store.ok()) return report(store.status(), kExitModel);
    if (const Status found = find_model(*store); !found.ok()) return report(found, kExitModel);
    for (const std::string& device : options_.devices) {
      const Failure failure = run_device(device);
      if (!failure.status.ok()) return report(failure.status, failure.code);
    }
    return kExitOk;
  }

 private:
  Status find_model(const ModelStore& store) {
    if (options_.model.empty()) {
      SOTTO_ASSIGN_OR_RETURN(const ModelInfo best, store.best(ModelKind::kWhisper));
      name_ = best.name;
      path_ = best.path;
      return {};
    }
    name_ = options_.model;
    SOTTO_ASSIGN_OR_RETURN(path_, store.resolve(options_.model, ModelKind::kWhisper));
    return {};
  }

  Failure run_device(const std::string& device) {
    const LoadOptions load = {device, options_.compute, options_.threads};
    if (const Status status = check_device(load); !status.ok()) return {status, kExitDevice};
    reset_peak_rss();
    Result<std::unique_ptr<SpeechModel>> model = SpeechModel::load(path_, load);
    if (!model.ok()) return {model.status(), kExitModel};
    for (const std::string& file : options_.files) {
      const Failure failure = options_.paced ? run_paced(**model, file) : run_file(**model, file);
      if (!failure.status.ok()) return failure;
    }
    return {};
  }

  Failure run_file(SpeechModel& model, const std::string& file) {
    BenchResult result;
    for (int i = 0; i < options_.warmup + options_.runs; ++i) {
      const Failure failure = run_once(model, file, result);
      if (!failure.status.ok()) return failure;
      if (i < options_.warmup) result.runs.clear();
    }
    result.warmup = options_.warmup;
    return print(model, file, result);
  }

  /// A run for every line of standard input, so that another program can take turns with its own.
  Failure run_paced(SpeechModel& model, const std::string& file) {
    for (std::string line; std::getline(std::cin, line);) {
      BenchResult result;
      Failure failure = run_once(model, file, result);
      if (failure.status.ok()) failure = print(model, file, result);
      if (!failure.status.ok()) return failure;
    }
    return {};
  }

  Failure run_once(SpeechModel& model, const std::string& file, BenchResult& result) const {
    AudioSource source;
    source.path = file;
    bool is_decoded = false;
    TranscribeCallbacks callbacks;
    callbacks.on_audio = [&is_decoded](double) { is_decoded = true; };
    callbacks.should_stop = interrupted;
    const double cpu_before = cpu_seconds();
    const auto before = std::chrono::steady_clock::now();
    const Result<Transcript> transcript = model.transcribe(source, transcribe_, callbacks);
    if (!transcript.ok()) {
      return {transcript.status(), is_decoded ? kExitProcessing : kExitInput};
    }
    BenchRun run;
    run.total_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - before)
            .count();
    run.cpu_s = cpu_seconds() - cpu_before;
    run.stats = transcript->stats;
    result.text = transcript->text;
    result.language = transcript->language;
    result.runs.push_back(std::move(run));
    return {};
  }

  Failure print(SpeechModel& model, const std::string& file, BenchResult& result) {
    result.file = file;
    result.model = name_;
    result.device = result.runs[0].stats.device;
    result.peak_rss_mb = peak_rss_mb();
    result.profile = model.measure_profile();
    result.description = model.description();
    result.beam_size = options_.beam_size;
    const std::string text = options_.json ? json_line(bench_json(result)) : bench_text(result);
    return {write_stdout(text), kExitProcessing};
  }

  const Options& options_;
  TranscribeOptions transcribe_;
  std::string name_, path_;
};

}  // namespace

void register_bench(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App& app =
      program.add_command("bench", "Measure how fast a model transcribes, stage by stage",
                          [options] { return Bench(*options).run(); });
  app.add_option("FILE", options->files, "Recordings")->required();
  app.add_option("-m,--model", options->model,
                 "Name of an installed model, or a file or folder; default: the best installed one")
      ->type_name("MODEL");
  app.add_option("--runs", options->runs, "Measured transcriptions of each recording")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--warmup", options->warmup, "Transcriptions before that, which do not count")
      ->check(CLI::Range(0, 1000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("-t,--threads", options->threads, "0: one per physical core")
      ->check(CLI::Range(0, 1024))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--device", options->devices, "auto, cpu, npu, sim; several: one after the other")
      ->delimiter(',')
      ->type_name("NAME[,NAME]")
      ->capture_default_str();
  app.add_option("--compute,--compute-type,--compute_type", options->compute,
                 "auto, f32, bf16, int8")
      ->type_name("TYPE")
      ->capture_default_str();
  app.add_option("--beam-size,--beam_size", options->beam_size, "1: greedy")
      ->check(CLI::Range(1, 100))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("-l,--language", options->language, "Default: it is detected in each run");
  app.add_flag("-j,--json", options->json, "A JSON object a line for each recording and device");
  app.add_flag("--paced", options->paced,
               "One run for each line of standard input, printed at once, until it ends");
}

}  // namespace sotto::cli
