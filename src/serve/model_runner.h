// The thread of one model: loads it, runs its jobs, unloads it when idle.
#ifndef SOTTO_SERVE_MODEL_RUNNER_H_
#define SOTTO_SERVE_MODEL_RUNNER_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "serve/engine.h"
#include "serve/job.h"
#include "serve/lane_queue.h"
#include "serve/metrics.h"

namespace sotto::serve {

/// What all runners of an engine share. The mutex guards the members below it and the queues.
struct EngineShared {
  EngineShared(EngineOptions engine_options, ModelLoader model_loader, Metrics& engine_metrics)
      : loader(std::move(model_loader)), metrics(engine_metrics), options(engine_options) {}

  const ModelLoader loader;
  Metrics& metrics;

  std::mutex mutex;
  std::condition_variable job_ended;
  EngineOptions options;
  double mean_job_s = 2;  ///< Of recent jobs
};

class ModelRunner {
 public:
  ModelRunner(ModelInfo model, EngineShared& shared);
  /// After stop(): waits for the thread.
  ~ModelRunner();
  ModelRunner(const ModelRunner&) = delete;
  ModelRunner& operator=(const ModelRunner&) = delete;

  // All of these with shared.mutex held.
  void push(std::shared_ptr<Job> job);
  void preload(std::function<void(const Status&)> done);
  void unload();
  void stop();
  void cancel_running();
  /// The options have changed.
  void wake() { work_.notify_all(); }
  [[nodiscard]] LaneQueue& queue() { return queue_; }
  /// Jobs in the queue that do not start at once.
  [[nodiscard]] int waiting() const;
  [[nodiscard]] bool busy() const { return !running_.empty(); }
  [[nodiscard]] ModelStatus status() const;

  [[nodiscard]] const ModelInfo& model() const { return model_; }

 private:
  using Lock = std::unique_lock<std::mutex>;

  void loop();
  /// Waits until there is something to do.
  void wait(Lock& lock);
  void do_preloads(Lock& lock);
  void do_unload(Lock& lock);
  /// Runs without the lock, which is held before and after.
  void run_job(Lock& lock, const std::shared_ptr<Job>& job);
  Status ensure_loaded();
  void set_state(ModelState state, const std::string& description, const std::string& error);
  Result<JobResult> execute(Job& job);
  Result<Transcript> transcribe(Job& job);
  /// Lets waiting interactive jobs in, called at a window border of a batch job.
  void let_others_in();
  void count(const Job& job, const Result<JobResult>& result);

  const ModelInfo model_;
  EngineShared& shared_;
  std::unique_ptr<SpeechModel> speech_;  ///< Only the thread uses it

  // Guarded by shared_.mutex.
  LaneQueue queue_;
  std::vector<std::shared_ptr<Job>> running_;  ///< Innermost last
  std::vector<std::function<void(const Status&)>> preloads_;
  ModelState state_ = ModelState::kUnloaded;
  std::string description_, error_;
  bool unload_wanted_ = false;
  bool stopping_ = false;
  Clock::time_point idle_since_ = Clock::now();
  std::condition_variable work_;

  std::thread thread_;
};

/// Tells whoever waits for the job how it ended, and frees what it holds.
void end_job(Job& job, const Status& status, JobResult* result);

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_MODEL_RUNNER_H_
