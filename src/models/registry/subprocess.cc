#include "models/registry/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "models/registry/files.h"

extern char** environ;

namespace sotto::registry {
namespace {

constexpr int kPollMs = 100;
constexpr size_t kKeptOutput = 16384;

/// File actions and attributes of posix_spawn, freed at the end of their scope.
class SpawnSettings {
 public:
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

/// Starts the program with its output on `output`. A process group of its own, so that its children
/// can be ended with it; default handling of the signals that this process ignores or handles.
Result<pid_t> spawn(const std::vector<std::string>& arguments, int output) {
  SpawnSettings settings;
  posix_spawn_file_actions_addopen(&settings.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&settings.actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&settings.actions, output, STDERR_FILENO);
  sigset_t reset;
  sigemptyset(&reset);
  for (const int number : {SIGPIPE, SIGINT, SIGTERM, SIGXFSZ})
    sigaddset(&reset, number);
  posix_spawnattr_setsigdefault(&settings.attributes, &reset);
  posix_spawnattr_setpgroup(&settings.attributes, 0);
  posix_spawnattr_setflags(&settings.attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> argv;
  for (const std::string& argument : arguments)
    argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, argv[0], &settings.actions, &settings.attributes, argv.data(), environ);
  if (error != 0) return status_from_errno(error, "cannot run " + arguments[0]);
  return pid;
}

int exit_code_of(int wait_status) {
  constexpr int kSignalBase = 128;
  return WIFSIGNALED(wait_status) ? kSignalBase + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

void keep_end(std::string& output, std::string_view more) {
  output.append(more);
  if (output.size() > 2 * kKeptOutput) output.erase(0, output.size() - kKeptOutput);
}

/// Reads until the program closes its output. False when should_stop ended it.
bool read_output(int from, const std::function<bool()>& should_stop, std::string& output) {
  std::array<char, 4096> buffer;
  for (;;) {
    if (should_stop && should_stop()) return false;
    pollfd ready{from, POLLIN, 0};
    if (::poll(&ready, 1, kPollMs) <= 0) continue;
    const ssize_t got = ::read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    keep_end(output, {buffer.data(), static_cast<size_t>(got)});
  }
}

}  // namespace

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  for (;;) {
    const size_t colon = rest.find(':');
    const std::string_view folder = rest.substr(0, colon);
    const std::string candidate = std::string(folder.empty() ? "." : folder) + "/" + name;
    if (file_bytes(candidate) >= 0 && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    if (colon == std::string_view::npos) return "";
    rest.remove_prefix(colon + 1);
  }
}

Result<ProcessResult> run_process(const std::vector<std::string>& arguments,
                                  const std::function<bool()>& should_stop) {
  std::array<int, 2> pipe_ends{};
  if (::pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return status_from_errno(errno, "pipe");
  const Descriptor from(pipe_ends[0]);
  Descriptor to(pipe_ends[1]);
  SOTTO_ASSIGN_OR_RETURN(const pid_t pid, spawn(arguments, to.get()));
  to.reset(-1);  // so that the end of the program ends the reading
  ProcessResult result;
  const bool ended = read_output(from.get(), should_stop, result.output);
  if (!ended) ::kill(-pid, SIGTERM);
  int wait_status = 0;
  while (::waitpid(pid, &wait_status, 0) < 0) {
    if (errno != EINTR) return status_from_errno(errno, "cannot wait for " + arguments[0]);
  }
  if (!ended) return cancelled(arguments[0] + " was interrupted");
  result.exit_code = exit_code_of(wait_status);
  return result;
}

}  // namespace sotto::registry
