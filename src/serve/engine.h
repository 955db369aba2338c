// The engine room of the server: one thread a model, a bounded queue of two lanes before them,
// models that are loaded when needed and unloaded when idle. Knows nothing of HTTP or any other
// protocol.
#ifndef SOTTO_SERVE_ENGINE_H_
#define SOTTO_SERVE_ENGINE_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "serve/job.h"
#include "serve/metrics.h"
#include "sotto/models.h"
#include "sotto/status.h"
#include "sotto/transcribe.h"

namespace sotto::serve {

/// How the engine gets a model that runs: in this process, in a worker process, or a test's fake.
/// Called on the model's own thread, where the model is also used and destroyed.
using ModelLoader = std::function<Result<std::unique_ptr<SpeechModel>>(const ModelInfo& model)>;

struct EngineOptions {
  int max_queue = 10;  ///< Jobs that may wait, over all models; those that run do not count
  /// How long a model stays loaded without work. Negative: for ever; zero: not at all.
  std::chrono::milliseconds keep_alive = std::chrono::minutes(5);
};

enum class ModelState { kUnloaded, kLoading, kLoaded, kFailed };

/// A model that the engine has met.
struct ModelStatus {
  std::string name;
  ModelState state = ModelState::kUnloaded;
  std::string description;  ///< SpeechModel::description() while it is loaded
  std::string error;        ///< kFailed: why
  int queued = 0;
  bool running = false;
};

/// Thread-safe.
class Engine {
 public:
  /// `metrics` must outlive the engine.
  Engine(EngineOptions options, ModelLoader loader, Metrics& metrics);
  /// As stop(): cancels what runs.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Puts a job into the queue of its model. kResourceExhausted: max_queue jobs are waiting;
  /// kUnavailable: the server is shutting down. The job's events then are not called.
  Result<std::shared_ptr<Job>> submit(JobRequest request);

  /// Whole seconds after which a refused client should try again, from recent jobs.
  [[nodiscard]] int retry_after_s() const;

  /// Loads a model ahead of its first job and calls `done` (may be empty) from the model's thread.
  void preload(const ModelInfo& model, std::function<void(const Status&)> done = {});
  /// Unloads an idle model at once; one that works when its queue is empty.
  void unload(std::string_view model);

  /// Jobs by the id of their request, until 10 minutes after their end.
  [[nodiscard]] Result<JobProgress> progress(std::string_view id) const;
  Status cancel(std::string_view id);
  /// Stops the job at its next token, or takes it out of the queue; on_end gets kCancelled.
  void cancel(const std::shared_ptr<Job>& job);

  [[nodiscard]] std::vector<ModelStatus> models() const;
  [[nodiscard]] int waiting() const;
  [[nodiscard]] int running() const;

  /// Changes the options for what comes.
  void configure(const EngineOptions& options);

  /// Takes no more jobs (kUnavailable), and ends those that wait as kUnavailable.
  void drain();
  /// drain(), then waits for running jobs until `deadline`, cancels what is left and ends all
  /// threads.
  void stop(Clock::time_point deadline);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_ENGINE_H_
