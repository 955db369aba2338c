// A child process with a channel to it.
#ifndef SOTTO_WORKER_PROCESS_H_
#define SOTTO_WORKER_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "sotto/status.h"
#include "worker/channel.h"

namespace sotto::worker {

/// The descriptor at which a worker finds its end of the channel.
inline constexpr int kWorkerFd = 3;

class Process {
 public:
  /// Starts `command` (a path and its arguments) with "--fd 3" added. The child has that socket,
  /// an empty standard input and this process's standard error for both outputs; nothing else is
  /// inherited.
  static Result<std::unique_ptr<Process>> start(std::vector<std::string> command);
  /// As end().
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  struct End {
    std::string how;  ///< "was killed by signal 11 (Segmentation fault)", "ended with code 1"
    bool unkillable = false;  ///< It is still there seconds after it was killed
  };
  /// Kills the process if it has not ended by itself, and says how it ended.
  End end();

  Channel& channel() { return channel_; }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  Process(pid_t pid, OwnedFd socket) : pid_(pid), channel_(std::move(socket)) {}

  pid_t pid_;
  bool ended_ = false;
  Channel channel_;
};

}  // namespace sotto::worker

#endif  // SOTTO_WORKER_PROCESS_H_
