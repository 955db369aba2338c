// A SpeechModel that runs in a process of its own, so that a crash or a hang of a driver or a
// decoder costs one retry and not the program.
#ifndef SOTTO_WORKER_WORKER_MODEL_H_
#define SOTTO_WORKER_WORKER_MODEL_H_

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "sotto/transcribe.h"
#include "worker/delivery.h"
#include "worker/health.h"
#include "worker/messages.h"
#include "worker/process.h"

namespace sotto::worker {

struct WorkerOptions {
  /// Program and arguments; "--fd N" is added. Empty: `sotto worker` of this same program.
  std::vector<std::string> command;
  std::chrono::milliseconds load_limit = std::chrono::minutes(10);
  /// Longest time between two signs of life (one every half second while tokens are decoded, none
  /// while the encoder runs).
  std::chrono::milliseconds silence_limit = std::chrono::minutes(2);
  /// Longest time for one window of 30 s with all its fallbacks, or for decoding the recording.
  std::chrono::milliseconds window_limit = std::chrono::minutes(10);
  /// Where counters and state go; may be shared by several models and outlive them. Null: nowhere.
  std::shared_ptr<WorkerMonitor> monitor;
};

/// Thread-safety as SpeechModel. A job whose worker dies or hangs is given to a fresh one once;
/// what was delivered is not delivered again. kUnavailable: the second worker failed, too.
/// at_window_border may call transcribe() of the same object.
class WorkerModel final : public SpeechModel {
 public:
  /// Starts the process and loads the model in it. The model's own failures come back as they are;
  /// kUnavailable: the process died or did not answer.
  static Result<std::unique_ptr<WorkerModel>> load(const std::string& path, const LoadOptions& load,
                                                   WorkerOptions options);
  ~WorkerModel() override;

  Result<Transcript> transcribe(const AudioSource& source, const TranscribeOptions& options,
                                const TranscribeCallbacks& callbacks) override;
  [[nodiscard]] bool multilingual() const override { return facts_.multilingual; }
  [[nodiscard]] ModelSizes sizes() const override { return facts_.sizes; }
  [[nodiscard]] std::string description() const override { return facts_.description; }

 private:
  using Clock = std::chrono::steady_clock;

  /// A job as it is sent to one worker after the other.
  struct Job {
    TranscribeRequest request;
    OwnedFd file;
    const TranscribeCallbacks* callbacks = nullptr;
    std::unique_ptr<Delivery> delivery;
  };
  /// How one try ended: by the model's word, or because the process failed.
  struct Try {
    Status process;
    Result<Transcript> result = Status(StatusCode::kInternal, "the worker gave no result");
  };
  struct Clocks;

  WorkerModel(std::string path, LoadOptions load, WorkerOptions options);

  Status ensure_started();
  Status await_load();
  Try run_once(Job& job);
  Status follow(Job& job, Try& outcome);
  Status take_event(Job& job, const Message& message, Clocks& clocks, Try& outcome, bool& done);
  Status pause_at_border(Job& job, Clocks& clocks);
  /// Ends the process and tells the monitor why; the status is kUnavailable. `fault`: "gave no sign
  /// of life"; empty when the process is gone. `channel`: how its channel failed.
  Status fail_process(const std::string& fault);
  Status fail_process(const Status& channel);

  std::string path_;
  LoadOptions load_;
  WorkerOptions options_;
  LoadReply facts_;
  std::unique_ptr<Process> process_;
  int generation_ = 0;  ///< Counts the processes: a job at a border sees that its own is gone
  int running_ = 0;     ///< Jobs that have begun; more than one at a window's border
  uint32_t last_job_ = 0;
};

}  // namespace sotto::worker

#endif  // SOTTO_WORKER_WORKER_MODEL_H_
