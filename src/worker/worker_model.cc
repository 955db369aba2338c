#include "worker/worker_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace sotto::worker {
namespace {

constexpr int kTries = 2;

/// Faults of a process, for fail_process().
const std::string kGone;
const std::string kBrokeProtocol = "broke the protocol";

/// How often the caller is asked whether it still wants the result.
constexpr auto kAskStep = std::chrono::milliseconds(25);

double seconds(std::chrono::milliseconds limit) {
  return std::chrono::duration<double>(limit).count();
}

std::vector<std::string> own_worker_command() {
  const auto level = spdlog::level::to_string_view(spdlog::get_level());
  // The running program itself, even after an upgrade has replaced its file.
  return {"/proc/self/exe", "--log-level", std::string(level.data(), level.size()), "worker"};
}

/// The number of the job that an event belongs to.
uint32_t job_of(const Message& message) {
  return std::visit(
      [](const auto& event) -> uint32_t {
        if constexpr (requires { event.job; }) return event.job;
        return 0;
      },
      message);
}

Status describe_source(const AudioSource& source, TranscribeRequest& request, OwnedFd& file) {
  const int sources = (source.path.empty() ? 0 : 1) + (source.bytes.empty() ? 0 : 1) +
                      (source.samples.empty() ? 0 : 1);
  if (sources > 1)
    return invalid_argument("an audio source has exactly one of path, bytes and samples");
  if (source.path == "-")
    return invalid_argument("a worker process cannot read this process's standard input");
  request.raw_format = source.raw_format;
  request.raw_rate = source.raw_rate;
  request.raw_channels = source.raw_channels;
  request.path = source.path;
  if (!source.path.empty()) return {};
  const bool decoded = !source.samples.empty();
  const std::span<const std::byte> bytes = decoded ? std::as_bytes(source.samples) : source.bytes;
  request.kind = decoded ? SourceKind::kSamples : SourceKind::kBytes;
  request.bytes = bytes.size();
  if (bytes.empty()) return {};
  SOTTO_ASSIGN_OR_RETURN(file, make_memory_file(bytes));
  return {};
}

}  // namespace

/// When the worker was last heard, and when it last got on.
struct WorkerModel::Clocks {
  Clock::time_point heard = Clock::now();
  Clock::time_point moved = heard;
  bool stop_sent = false;

  void hear() { heard = Clock::now(); }
  void move() { heard = moved = Clock::now(); }
};

WorkerModel::WorkerModel(std::string path, LoadOptions load, WorkerOptions options)
    : path_(std::move(path)), load_(std::move(load)), options_(std::move(options)) {
  if (options_.command.empty()) options_.command = own_worker_command();
  if (options_.monitor == nullptr) options_.monitor = std::make_shared<WorkerMonitor>();
}

WorkerModel::~WorkerModel() {
  if (process_ == nullptr) return;
  process_.reset();
  options_.monitor->stopped();
}

Result<std::unique_ptr<WorkerModel>> WorkerModel::load(const std::string& path,
                                                       const LoadOptions& load,
                                                       WorkerOptions options) {
  std::unique_ptr<WorkerModel> model(new WorkerModel(path, load, std::move(options)));
  SOTTO_RETURN_IF_ERROR(model->ensure_started());
  return model;
}

Status WorkerModel::fail_process(const std::string& fault) {
  const Process::End end = process_->end();
  process_.reset();
  // Without a fault of its own the process is gone, and how it went is all there is to say.
  const std::string message = fault.empty()
                                  ? fmt::format("the worker process {}", end.how)
                                  : fmt::format("the worker process {} and was killed", fault);
  options_.monitor->failed(/*hung=*/!fault.empty(), end.unkillable, message);
  spdlog::warn("{}", message);
  return unavailable(message);
}

Status WorkerModel::fail_process(const Status& channel) {
  const bool gone = channel.code() == StatusCode::kUnavailable;
  return fail_process(gone ? std::string() : fmt::format("broke off ({})", channel.message()));
}

Status WorkerModel::ensure_started() {
  // Between jobs a worker has nothing to say: what can be read is its end.
  if (process_ != nullptr && running_ == 0 && process_->channel().readable())
    static_cast<void>(fail_process(kGone));  // the next one does the work
  if (process_ != nullptr) return {};
  SOTTO_ASSIGN_OR_RETURN(process_, Process::start(options_.command));
  ++generation_;
  options_.monitor->started(process_->pid());
  LoadRequest request{path_, load_};
  if (const Status sent = process_->channel().send(request); !sent.ok()) return fail_process(sent);
  return await_load();
}

Status WorkerModel::await_load() {
  Result<std::optional<Received>> received =
      process_->channel().receive(Clock::now() + options_.load_limit);
  if (!received.ok()) return fail_process(received.status());
  if (!received->has_value()) {
    return fail_process(
        fmt::format("did not load {} in {} s", path_, seconds(options_.load_limit)));
  }
  auto* reply = std::get_if<LoadReply>(&(*received)->message);
  if (reply == nullptr) return fail_process(kBrokeProtocol);
  if (const Status status = reply->status.status(); !status.ok()) {
    process_.reset();
    options_.monitor->stopped();
    return status;
  }
  facts_ = std::move(*reply);
  options_.monitor->set_state(WorkerState::kReady);
  return {};
}

Result<Transcript> WorkerModel::transcribe(const AudioSource& source,
                                           const TranscribeOptions& options,
                                           const TranscribeCallbacks& callbacks) {
  Job job;
  job.callbacks = &callbacks;
  job.delivery = std::make_unique<Delivery>(callbacks);
  job.request.options = options;
  job.request.wants_borders = static_cast<bool>(callbacks.at_window_border);
  SOTTO_RETURN_IF_ERROR(describe_source(source, job.request, job.file));
  Status failure;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    if (callbacks.should_stop && callbacks.should_stop())
      return cancelled("the transcription was stopped");
    if (attempt > 0) {
      options_.monitor->retried();
      job.delivery->begin_again();
    }
    Try outcome = run_once(job);
    if (outcome.process.ok()) {
      if (outcome.result.ok()) job.delivery->reconcile(*outcome.result);
      return std::move(outcome.result);
    }
    failure = outcome.process;
  }
  return unavailable(
      fmt::format("{}, on the second try, too\nrun the same with --in-process or `sotto "
                  "transcribe --local` to see where it fails, or choose another --device",
                  failure.message()));
}

WorkerModel::Try WorkerModel::run_once(Job& job) {
  Try outcome;
  if (const Status started = ensure_started(); !started.ok()) {
    if (started.code() == StatusCode::kUnavailable) {
      outcome.process = started;
    } else {
      outcome.result = started;  // the model's own word
    }
    return outcome;
  }
  job.request.job = ++last_job_;
  ++running_;
  options_.monitor->set_state(WorkerState::kBusy);
  outcome.process = follow(job, outcome);
  --running_;
  if (running_ == 0 && process_ != nullptr) options_.monitor->set_state(WorkerState::kReady);
  return outcome;
}

/// Sends the job and follows it to its end. The status is a failure of the process.
Status WorkerModel::follow(Job& job, Try& outcome) {
  const int file = job.file.valid() ? job.file.get() : -1;
  if (const Status sent = process_->channel().send(job.request, file); !sent.ok())
    return fail_process(sent);
  Clocks clocks;
  bool done = false;
  while (!done) {
    const TranscribeCallbacks& callbacks = *job.callbacks;
    if (!clocks.stop_sent && callbacks.should_stop && callbacks.should_stop()) {
      clocks.stop_sent = true;
      if (const Status sent = process_->channel().send(StopRequest{job.request.job}); !sent.ok())
        return fail_process(sent);
    }
    const Result<std::optional<Received>> received =
        process_->channel().receive(Clock::now() + kAskStep);
    if (!received.ok()) return fail_process(received.status());
    if (received->has_value()) {
      SOTTO_RETURN_IF_ERROR(take_event(job, (*received)->message, clocks, outcome, done));
    } else if (Clock::now() - clocks.heard > options_.silence_limit) {
      return fail_process(
          fmt::format("gave no sign of life for {} s", seconds(options_.silence_limit)));
    } else if (Clock::now() - clocks.moved > options_.window_limit) {
      return fail_process(
          fmt::format("did not finish a window in {} s", seconds(options_.window_limit)));
    }
  }
  return {};
}

Status WorkerModel::take_event(Job& job, const Message& message, Clocks& clocks, Try& outcome,
                               bool& done) {
  if (job_of(message) != job.request.job) return fail_process(kBrokeProtocol);
  clocks.hear();
  if (const auto* audio = std::get_if<AudioEvent>(&message)) {
    clocks.move();
    job.delivery->audio(audio->duration_s);
  } else if (const auto* language = std::get_if<LanguageEvent>(&message)) {
    job.delivery->language(language->code, language->probability);
  } else if (const auto* segment = std::get_if<SegmentEvent>(&message)) {
    job.delivery->segment(segment->segment);
  } else if (const auto* progress = std::get_if<ProgressEvent>(&message)) {
    clocks.move();
    job.delivery->progress(progress->done_s, progress->total_s);
  } else if (std::holds_alternative<BorderEvent>(message)) {
    return pause_at_border(job, clocks);
  } else if (const auto* end = std::get_if<DoneEvent>(&message)) {
    done = true;
    const Status status = end->status.status();
    outcome.result = status.ok() ? Result<Transcript>(end->transcript) : status;
  } else if (!std::holds_alternative<AliveEvent>(message)) {
    return fail_process(kBrokeProtocol);
  }
  return {};
}

Status WorkerModel::pause_at_border(Job& job, Clocks& clocks) {
  const int generation = generation_;
  if (job.callbacks->at_window_border) job.callbacks->at_window_border();
  // A job that got in between may have lost the process, and started another.
  if (process_ == nullptr || generation_ != generation)
    return unavailable("the worker process was lost at a window's border");
  clocks.move();
  if (const Status sent = process_->channel().send(ResumeRequest{job.request.job}); !sent.ok())
    return fail_process(sent);
  return {};
}

}  // namespace sotto::worker
