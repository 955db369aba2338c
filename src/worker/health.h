// How the worker processes of a program fare, for /health and the metrics.
#ifndef SOTTO_WORKER_HEALTH_H_
#define SOTTO_WORKER_HEALTH_H_

#include <mutex>
#include <string>
#include <string_view>

namespace sotto::worker {

enum class WorkerState {
  kStopped,   ///< No process: none was started yet, or the model is unloaded
  kStarting,  ///< The process loads its model
  kReady,
  kBusy,
  kFailed,  ///< The last process died or hung, and none has taken its place yet
};

/// "stopped", "starting", "ready", "busy", "failed".
std::string_view worker_state_name(WorkerState state);

struct WorkerHealth {
  WorkerState state = WorkerState::kStopped;
  int pid = 0;              ///< Of the process that runs; 0: none
  int starts = 0;           ///< Processes started so far
  int crashes = 0;          ///< Of them, those that ended by themselves
  int hangs = 0;            ///< Of them, those that were killed because they did not answer
  int retried_jobs = 0;     ///< Jobs that were given to a second process
  bool unkillable = false;  ///< A killed process is still there: its driver holds it, reboot
  std::string last_failure;
};

/// Outlives the processes that report to it. Thread-safe.
class WorkerMonitor {
 public:
  [[nodiscard]] WorkerHealth health() const;

  // For WorkerModel.
  void set_state(WorkerState state);
  void started(int pid);
  void stopped();
  void failed(bool hung, bool unkillable, std::string what);
  void retried();

 private:
  mutable std::mutex mutex_;
  WorkerHealth health_;
};

}  // namespace sotto::worker

#endif  // SOTTO_WORKER_HEALTH_H_
