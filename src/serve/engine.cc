#include "serve/engine.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "serve/model_runner.h"

namespace sotto::serve {
namespace {

constexpr auto kKeepEnded = std::chrono::minutes(10);
constexpr size_t kMostKept = 4096;       ///< Jobs whose progress can be asked for
constexpr int kLongestRetryAfter = 120;  ///< Seconds; OpenAI's client honours no more

}  // namespace

struct Engine::Impl {
  Impl(EngineOptions options, ModelLoader loader, Metrics& metrics)
      : shared(options, std::move(loader), metrics) {}

  EngineShared shared;
  // Guarded by shared.mutex.
  bool draining = false;
  std::map<std::string, std::unique_ptr<ModelRunner>, std::less<>> runners;
  struct Known {
    std::shared_ptr<Job> job;
    ModelRunner* runner = nullptr;
    Clock::time_point seen;  ///< Last time that it was seen not to have ended
  };
  std::map<std::string, Known, std::less<>> jobs;  ///< By id

  ModelRunner& runner(const ModelInfo& model) {
    auto& entry = runners[model.name];
    if (entry == nullptr) entry = std::make_unique<ModelRunner>(model, shared);
    return *entry;
  }

  [[nodiscard]] int waiting() const {
    int sum = 0;
    for (const auto& [name, runner] : runners)
      sum += runner->waiting();
    return sum;
  }

  [[nodiscard]] bool busy() const {
    return std::any_of(runners.begin(), runners.end(),
                       [](const auto& entry) { return entry.second->busy(); });
  }

  void forget_old_jobs() {
    const auto now = Clock::now();
    for (auto it = jobs.begin(); it != jobs.end();) {
      const JobState state = it->second.job->progress().state;
      const bool ended = state == JobState::kDone || state == JobState::kFailed;
      if (!ended) it->second.seen = now;
      const bool is_old = now - it->second.seen > kKeepEnded || jobs.size() > kMostKept;
      it = ended && is_old ? jobs.erase(it) : std::next(it);
    }
  }

  [[nodiscard]] std::vector<std::shared_ptr<Job>> refuse_waiting() {
    const std::lock_guard lock(shared.mutex);
    draining = true;
    std::vector<std::shared_ptr<Job>> refused;
    for (const auto& [name, runner] : runners) {
      const auto jobs_of_model = runner->queue().clear();
      refused.insert(refused.end(), jobs_of_model.begin(), jobs_of_model.end());
    }
    return refused;
  }
};

Engine::Engine(EngineOptions options, ModelLoader loader, Metrics& metrics)
    : impl_(std::make_unique<Impl>(options, std::move(loader), metrics)) {}

Engine::~Engine() {
  stop(Clock::now());
}

Result<std::shared_ptr<Job>> Engine::submit(JobRequest request) {
  const std::lock_guard lock(impl_->shared.mutex);
  if (impl_->draining) return unavailable("the server is shutting down");
  impl_->forget_old_jobs();
  ModelRunner& runner = impl_->runner(request.model);
  const int limit = impl_->shared.options.max_queue;
  const bool starts_at_once = !runner.busy() && runner.queue().empty();
  if (const int waiting = impl_->waiting(); !starts_at_once && waiting >= limit) {
    return resource_exhausted(std::to_string(waiting) + " jobs are waiting (limit " +
                              std::to_string(limit) + ")");
  }
  auto job = std::make_shared<Job>(std::move(request));
  impl_->jobs[job->id()] = {job, &runner, Clock::now()};
  runner.push(job);
  return job;
}

int Engine::retry_after_s() const {
  const std::lock_guard lock(impl_->shared.mutex);
  const double seconds = std::ceil(impl_->shared.mean_job_s * (impl_->waiting() + 1) / 2);
  return static_cast<int>(std::clamp(seconds, 1.0, double{kLongestRetryAfter}));
}

void Engine::preload(const ModelInfo& model, std::function<void(const Status&)> done) {
  const std::lock_guard lock(impl_->shared.mutex);
  if (!impl_->draining) impl_->runner(model).preload(std::move(done));
}

void Engine::unload(std::string_view model) {
  const std::lock_guard lock(impl_->shared.mutex);
  const auto found = impl_->runners.find(model);
  if (found != impl_->runners.end()) found->second->unload();
}

Result<JobProgress> Engine::progress(std::string_view id) const {
  const std::lock_guard lock(impl_->shared.mutex);
  impl_->forget_old_jobs();
  const auto found = impl_->jobs.find(id);
  if (found == impl_->jobs.end())
    return not_found("no job '" + std::string(id) + "'; they are kept for 10 minutes");
  JobProgress progress = found->second.job->progress();
  progress.position = std::max(0, found->second.runner->queue().position(*found->second.job));
  return progress;
}

Status Engine::cancel(std::string_view id) {
  std::shared_ptr<Job> job;
  {
    const std::lock_guard lock(impl_->shared.mutex);
    const auto found = impl_->jobs.find(id);
    if (found == impl_->jobs.end()) return not_found("no job '" + std::string(id) + "'");
    job = found->second.job;
  }
  cancel(job);
  return {};
}

void Engine::cancel(const std::shared_ptr<Job>& job) {
  job->set_cancelled();
  {
    const std::lock_guard lock(impl_->shared.mutex);
    bool was_waiting = false;
    for (const auto& [name, runner] : impl_->runners)
      was_waiting = runner->queue().remove(*job) || was_waiting;
    if (!was_waiting) return;
  }
  end_job(*job, cancelled("the job was cancelled"), nullptr);
}

std::vector<ModelStatus> Engine::models() const {
  const std::lock_guard lock(impl_->shared.mutex);
  std::vector<ModelStatus> all;
  for (const auto& [name, runner] : impl_->runners)
    all.push_back(runner->status());
  return all;
}

int Engine::waiting() const {
  const std::lock_guard lock(impl_->shared.mutex);
  return impl_->waiting();
}

int Engine::running() const {
  const std::lock_guard lock(impl_->shared.mutex);
  int sum = 0;
  for (const auto& [name, runner] : impl_->runners)
    sum += runner->busy() ? 1 : 0;
  return sum;
}

void Engine::configure(const EngineOptions& options) {
  const std::lock_guard lock(impl_->shared.mutex);
  impl_->shared.options = options;
  for (const auto& [name, runner] : impl_->runners)
    runner->wake();
}

void Engine::drain() {
  for (const auto& job : impl_->refuse_waiting())
    end_job(*job, unavailable("the server is shutting down"), nullptr);
}

void Engine::stop(Clock::time_point deadline) {
  drain();
  {
    std::unique_lock lock(impl_->shared.mutex);
    impl_->shared.job_ended.wait_until(lock, deadline, [this] { return !impl_->busy(); });
    for (const auto& [name, runner] : impl_->runners) {
      runner->cancel_running();
      runner->stop();
    }
  }
  // Nobody adds runners any more; each waits for its thread, which needs the mutex.
  std::map<std::string, std::unique_ptr<ModelRunner>, std::less<>> runners;
  {
    const std::lock_guard lock(impl_->shared.mutex);
    impl_->jobs.clear();
    runners.swap(impl_->runners);
  }
  runners.clear();
}

}  // namespace sotto::serve
