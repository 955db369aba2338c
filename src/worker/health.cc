#include "worker/health.h"

#include <utility>

namespace sotto::worker {

std::string_view worker_state_name(WorkerState state) {
  switch (state) {
    case WorkerState::kStopped:
      return "stopped";
    case WorkerState::kStarting:
      return "starting";
    case WorkerState::kReady:
      return "ready";
    case WorkerState::kBusy:
      return "busy";
    case WorkerState::kFailed:
      return "failed";
  }
  return "unknown";
}

WorkerHealth WorkerMonitor::health() const {
  const std::lock_guard lock(mutex_);
  return health_;
}

void WorkerMonitor::set_state(WorkerState state) {
  const std::lock_guard lock(mutex_);
  health_.state = state;
}

void WorkerMonitor::started(int pid) {
  const std::lock_guard lock(mutex_);
  health_.state = WorkerState::kStarting;
  health_.pid = pid;
  ++health_.starts;
}

void WorkerMonitor::stopped() {
  const std::lock_guard lock(mutex_);
  health_.state = WorkerState::kStopped;
  health_.pid = 0;
}

void WorkerMonitor::failed(bool hung, bool unkillable, std::string what) {
  const std::lock_guard lock(mutex_);
  health_.state = WorkerState::kFailed;
  health_.pid = 0;
  ++(hung ? health_.hangs : health_.crashes);
  health_.unkillable = health_.unkillable || unkillable;
  health_.last_failure = std::move(what);
}

void WorkerMonitor::retried() {
  const std::lock_guard lock(mutex_);
  ++health_.retried_jobs;
}

}  // namespace sotto::worker
