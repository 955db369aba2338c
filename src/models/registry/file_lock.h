// One process at a time.
#ifndef SOTTO_MODELS_REGISTRY_FILE_LOCK_H_
#define SOTTO_MODELS_REGISTRY_FILE_LOCK_H_

#include <functional>
#include <string>

#include "models/registry/files.h"
#include "sotto/status.h"

namespace sotto::registry {

/// An exclusive lock on a file (flock(2)), held as long as this object lives. The kernel lets go of
/// it when the process ends, however it ends, so a crash leaves no stale lock; the file stays.
class FileLock {
 public:
  /// Waits for whoever holds the lock. `on_wait` (may be empty) is called once when there is
  /// somebody to wait for; kCancelled when should_stop (may be empty) says so.
  static Result<FileLock> acquire(const std::string& path, const std::function<void()>& on_wait,
                                  const std::function<bool()>& should_stop);

 private:
  explicit FileLock(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

}  // namespace sotto::registry

#endif  // SOTTO_MODELS_REGISTRY_FILE_LOCK_H_
