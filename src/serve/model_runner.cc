#include "serve/model_runner.h"

#include <exception>
#include <optional>
#include <utility>

#include "base/log.h"

namespace sotto::serve {
namespace {

/// Interactive jobs that may get in at one window border, so that a batch job under a steady stream
/// of clips still goes on.
constexpr int kJobsAtBorder = 4;
constexpr double kMeanWeight = 0.3;  ///< Of the newest job in the mean length of jobs

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string_view lane_name(Lane lane) {
  return lane == Lane::kInteractive ? "interactive" : "batch";
}

std::string_view outcome(const Status& status) {
  return status.ok() ? "done" : status_code_name(status.code());
}

/// A model that cannot be loaded is no fault of the request, whatever its file's fault is.
Status load_failure(const Status& status, const std::string& model) {
  const bool may_pass =
      status.code() == StatusCode::kUnavailable || status.code() == StatusCode::kResourceExhausted;
  return {may_pass ? StatusCode::kUnavailable : StatusCode::kInternal,
          "the model " + model + " cannot be loaded: " + status.message()};
}

}  // namespace

void end_job(Job& job, const Status& status, JobResult* result) {
  job.set_state(status.ok() ? JobState::kDone : JobState::kFailed);
  if (status.ok()) job.set_progress(1);
  if (job.request().events.on_end) job.request().events.on_end(status, result);
  job.release();
}

ModelRunner::ModelRunner(ModelInfo model, EngineShared& shared)
    : model_(std::move(model)), shared_(shared), thread_([this] { loop(); }) {}

ModelRunner::~ModelRunner() {
  thread_.join();
}

void ModelRunner::push(std::shared_ptr<Job> job) {
  queue_.push(std::move(job));
  work_.notify_all();
}

void ModelRunner::preload(std::function<void(const Status&)> done) {
  if (state_ != ModelState::kLoaded) state_ = ModelState::kLoading;
  preloads_.push_back(std::move(done));
  work_.notify_all();
}

void ModelRunner::unload() {
  unload_wanted_ = true;
  work_.notify_all();
}

void ModelRunner::stop() {
  stopping_ = true;
  work_.notify_all();
}

void ModelRunner::cancel_running() {
  for (const auto& job : running_)
    job->set_cancelled();
}

int ModelRunner::waiting() const {
  const bool starts_one = running_.empty() && !queue_.empty();
  return queue_.size() - (starts_one ? 1 : 0);
}

ModelStatus ModelRunner::status() const {
  ModelStatus status;
  status.name = model_.name;
  status.state = state_;
  status.description = description_;
  status.error = error_;
  status.queued = queue_.size();
  status.running = !running_.empty();
  return status;
}

void ModelRunner::wait(Lock& lock) {
  const auto has_work = [this] {
    return stopping_ || unload_wanted_ || !queue_.empty() || !preloads_.empty();
  };
  while (!has_work()) {
    const auto keep_alive = shared_.options.keep_alive;
    if (state_ != ModelState::kLoaded || keep_alive.count() < 0) {
      work_.wait(lock);
    } else if (const auto end = idle_since_ + keep_alive; Clock::now() < end) {
      work_.wait_until(lock, end);
    } else {
      unload_wanted_ = true;
    }
  }
}

void ModelRunner::loop() {
  Lock lock(shared_.mutex);
  for (;;) {
    wait(lock);
    if (stopping_) break;
    if (!preloads_.empty()) do_preloads(lock);
    if (std::shared_ptr<Job> job = queue_.pop()) {
      run_job(lock, job);
      idle_since_ = Clock::now();
    } else if (unload_wanted_) {
      do_unload(lock);
    }
  }
  const std::vector<std::function<void(const Status&)>> preloads = std::move(preloads_);
  lock.unlock();
  for (const auto& done : preloads)
    if (done) done(cancelled("the server is shutting down"));
  speech_.reset();
}

void ModelRunner::do_preloads(Lock& lock) {
  const std::vector<std::function<void(const Status&)>> preloads = std::exchange(preloads_, {});
  lock.unlock();
  const Status status = ensure_loaded();
  for (const auto& done : preloads)
    if (done) done(status);
  lock.lock();
  idle_since_ = Clock::now();
}

void ModelRunner::do_unload(Lock& lock) {
  unload_wanted_ = false;
  if (state_ != ModelState::kLoaded) return;
  state_ = ModelState::kUnloaded;
  description_.clear();
  lock.unlock();
  speech_.reset();
  shared_.metrics.set(Metric::kModelLoaded, {{"model", model_.name}}, 0);
  spdlog::info("model {} unloaded", model_.name);
  lock.lock();
}

void ModelRunner::set_state(ModelState state, const std::string& description,
                            const std::string& error) {
  const std::lock_guard lock(shared_.mutex);
  state_ = state;
  description_ = description;
  error_ = error;
}

Status ModelRunner::ensure_loaded() {
  if (speech_ != nullptr) return {};
  set_state(ModelState::kLoading, "", "");
  const auto start = Clock::now();
  Result<std::unique_ptr<SpeechModel>> loaded = shared_.loader(model_);
  if (!loaded.ok()) {
    const Status failure = load_failure(loaded.status(), model_.name);
    set_state(ModelState::kFailed, "", failure.message());
    spdlog::error("{}", failure.message());
    return failure;
  }
  speech_ = std::move(loaded).value();
  const double seconds = seconds_since(start);
  set_state(ModelState::kLoaded, speech_->description(), "");
  shared_.metrics.set(Metric::kModelLoaded, {{"model", model_.name}}, 1);
  shared_.metrics.set(Metric::kModelLoadSeconds, {{"model", model_.name}}, seconds);
  spdlog::info("model {} loaded in {:.2f} s on {}", model_.name, seconds, speech_->description());
  return {};
}

void ModelRunner::run_job(Lock& lock, const std::shared_ptr<Job>& job) {
  running_.push_back(job);
  lock.unlock();
  Result<JobResult> result = execute(*job);
  count(*job, result);
  end_job(*job, result.status(), result.ok() ? &result.value() : nullptr);
  lock.lock();
  running_.pop_back();
  shared_.job_ended.notify_all();
}

Result<JobResult> ModelRunner::execute(Job& job) {
  if (job.cancelled()) return cancelled("the job was cancelled");
  JobResult result;
  result.queue_ms = seconds_since(job.submitted()) * 1000;
  job.set_state(JobState::kRunning);
  if (job.request().events.on_start) job.request().events.on_start();
  SOTTO_RETURN_IF_ERROR(ensure_loaded());
  const std::string device = speech_->description();
  spdlog::info("device taken by job {}: {}, {}, waited {:.0f} ms, {}", job.id(), model_.name,
               lane_name(job.request().lane), result.queue_ms, device);
  const auto start = Clock::now();
  Result<Transcript> transcript = transcribe(job);
  spdlog::info("device freed by job {} after {:.0f} ms: {}", job.id(), seconds_since(start) * 1000,
               outcome(transcript.status()));
  if (!transcript.ok()) {
    if (transcript.status().code() == StatusCode::kCancelled && job.overdue()) {
      return Status(StatusCode::kDeadlineExceeded, "the time limit of the request was reached");
    }
    return transcript.status();
  }
  result.transcript = std::move(transcript).value();
  result.process_ms = result.transcript.stats.total_ms;
  return result;
}

Result<Transcript> ModelRunner::transcribe(Job& job) {
  const JobRequest& request = job.request();
  TranscribeCallbacks callbacks;
  callbacks.on_audio = [&](double duration_s) {
    job.set_audio_s(duration_s);
    if (request.events.on_audio) request.events.on_audio(duration_s);
  };
  callbacks.on_language = request.events.on_language;
  callbacks.on_segment = request.events.on_segment;
  callbacks.on_progress = [&](double done_s, double total_s) {
    job.set_progress(total_s > 0 ? done_s / total_s : 0);
  };
  callbacks.should_stop = [&] { return job.cancelled() || job.overdue(); };
  if (request.lane == Lane::kBatch) callbacks.at_window_border = [this] { let_others_in(); };
  try {
    return speech_->transcribe(request.audio.source(), request.options, callbacks);
  } catch (const std::exception& error) {
    // Memory that runs out under load must cost a request, not the server.
    return internal_error(std::string("the transcription failed: ") + error.what());
  }
}

void ModelRunner::let_others_in() {
  Lock lock(shared_.mutex);
  for (int i = 0; i < kJobsAtBorder && !stopping_; ++i) {
    const std::shared_ptr<Job> job = queue_.pop_interactive();
    if (job == nullptr) return;
    run_job(lock, job);
  }
}

void ModelRunner::count(const Job& job, const Result<JobResult>& result) {
  Metrics& metrics = shared_.metrics;
  metrics.add(Metric::kJobs, {{"outcome", std::string(outcome(result.status()))}});
  if (!result.ok()) return;
  const TranscriptStats& stats = result->transcript.stats;
  metrics.observe(Metric::kQueueWait, {{"lane", std::string(lane_name(job.request().lane))}},
                  result->queue_ms / 1000);
  metrics.add(Metric::kAudioSeconds, {{"model", model_.name}, {"path", stats.device}},
              stats.audio_s);
  const std::pair<const char*, double> stages[] = {{"decode", stats.decode_audio_ms},
                                                   {"mel", stats.mel_ms},
                                                   {"encode", stats.encode_ms},
                                                   {"generate", stats.generate_ms}};
  for (const auto& [stage, ms] : stages) {
    metrics.observe(Metric::kTranscribeSeconds, {{"model", model_.name}, {"stage", stage}},
                    ms / 1000);
  }
  if (stats.audio_s > 0) {
    metrics.observe(Metric::kRealtimeFactor, {{"model", model_.name}},
                    result->process_ms / 1000 / stats.audio_s);
  }
  if (!stats.fallback_reason.empty())
    metrics.add(Metric::kFallbacks, {{"reason", stats.fallback_reason}});
  const std::lock_guard lock(shared_.mutex);
  shared_.mean_job_s += kMeanWeight * (result->process_ms / 1000 - shared_.mean_job_s);
}

}  // namespace sotto::serve
