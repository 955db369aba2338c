// Tells the caller of a pull how it goes, not more often than anybody can look.
#ifndef SOTTO_MODELS_REGISTRY_PROGRESS_H_
#define SOTTO_MODELS_REGISTRY_PROGRESS_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "sotto/models.h"

namespace sotto::registry {

class ProgressReporter {
 public:
  /// `options` must outlive this object.
  explicit ProgressReporter(const PullOptions& options) : options_(options) {}

  /// A step without bytes, e.g. "writing manifest".
  void step(const std::string& status);

  /// A file begins to arrive, or begins again. `sha256` may be empty, `total` -1.
  void begin_file(const std::string& name, const std::string& sha256, int64_t total);
  /// So many bytes of it are there.
  void advance(int64_t completed);
  /// It is complete.
  void end_file(int64_t bytes);

  void warn(const std::string& text);
  [[nodiscard]] bool should_stop() const { return options_.should_stop && options_.should_stop(); }

 private:
  void report();

  const PullOptions& options_;
  PullProgress current_;
  std::chrono::steady_clock::time_point last_report_;
};

}  // namespace sotto::registry

#endif  // SOTTO_MODELS_REGISTRY_PROGRESS_H_
