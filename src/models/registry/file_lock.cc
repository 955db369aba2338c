#include "models/registry/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace sotto::registry {

Result<FileLock> FileLock::acquire(const std::string& path, const std::function<void()>& on_wait,
                                   const std::function<bool()>& should_stop) {
  constexpr auto kPoll = std::chrono::milliseconds(50);
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (file.get() < 0) return store_error(errno, "cannot create", path, -1);
  bool has_waited = false;
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return store_error(errno, "cannot lock", path, -1);
    if (should_stop && should_stop()) return cancelled("interrupted while waiting for " + path);
    if (!has_waited && on_wait) on_wait();
    has_waited = true;
    std::this_thread::sleep_for(kPoll);
  }
  return FileLock(std::move(file));
}

}  // namespace sotto::registry
