#include "worker/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

namespace sotto::worker {
namespace {

/// What posix_spawn() is told to do in the child before it becomes the program.
class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  /// 0 or an error number.
  int prepare(int socket) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    // The socket first: it may stand where standard input is put afterwards.
    int error = posix_spawn_file_actions_adddup2(&actions_, socket, kWorkerFd);
    if (error == 0)
      error = posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0)
      error = posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO);
    if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(&actions_, kWorkerFd + 1);
    return error;
  }

  int run(std::vector<std::string>& command, pid_t& pid) {
    std::vector<char*> arguments;
    for (std::string& argument : command)
      arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    return posix_spawn(&pid, arguments[0], &actions_, &attributes_, arguments.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// Collects the process within `patience_ms`; nothing when it is still there.
std::optional<int> wait_for_end(pid_t pid, int patience_ms) {
  constexpr int kStepMs = 10;
  for (int waited = 0;; waited += kStepMs) {
    int status = 0;
    const pid_t got = ::waitpid(pid, &status, WNOHANG);
    if (got == pid) return status;
    if (got < 0 && errno != EINTR) return 0;  // somebody else collected it
    if (waited >= patience_ms) return std::nullopt;
    ::poll(nullptr, 0, kStepMs);
  }
}

std::string describe(int status) {
  if (!WIFSIGNALED(status)) return fmt::format("ended with code {}", WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  const char* name = sigdescr_np(number);
  return fmt::format("was killed by signal {} ({})", number, name == nullptr ? "unknown" : name);
}

}  // namespace

Result<std::unique_ptr<Process>> Process::start(std::vector<std::string> command) {
  SOTTO_ASSIGN_OR_RETURN(auto ends, make_socket_pair());
  command.insert(command.end(), {"--fd", std::to_string(kWorkerFd)});
  SpawnPlan plan;
  pid_t pid = 0;
  int error = plan.prepare(ends.second.get());
  if (error == 0) error = plan.run(command, pid);
  if (error != 0)
    return status_from_errno(error, fmt::format("starting a worker process ({})", command[0]));
  return std::unique_ptr<Process>(new Process(pid, std::move(ends.first)));
}

Process::End Process::end() {
  if (ended_) return {"has ended", false};
  ended_ = true;
  // A process whose end of the channel is closed is on its way out: how it ends by itself tells
  // more than the signal that would overtake it.
  constexpr int kOwnEndMs = 100, kKillMs = 5000;
  std::optional<int> status = wait_for_end(pid_, channel_.readable() ? kOwnEndMs : 0);
  if (!status) {
    ::kill(pid_, SIGKILL);
    status = wait_for_end(pid_, kKillMs);
  }
  if (!status) return {"cannot be killed", true};
  return {describe(*status), false};
}

Process::~Process() {
  end();
}

}  // namespace sotto::worker
