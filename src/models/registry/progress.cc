#include "models/registry/progress.h"

namespace sotto::registry {

void ProgressReporter::step(const std::string& status) {
  current_ = PullProgress{status, "", -1, -1};
  report();
}

void ProgressReporter::begin_file(const std::string& name, const std::string& sha256,
                                  int64_t total) {
  current_ = PullProgress{"pulling " + name, sha256.empty() ? "" : "sha256:" + sha256, total, 0};
  report();
}

void ProgressReporter::advance(int64_t completed) {
  constexpr auto kInterval = std::chrono::milliseconds(100);
  current_.completed = completed;
  if (std::chrono::steady_clock::now() - last_report_ >= kInterval) report();
}

void ProgressReporter::end_file(int64_t bytes) {
  current_.total = bytes;
  current_.completed = bytes;
  report();
}

void ProgressReporter::warn(const std::string& text) {
  if (options_.on_warning) options_.on_warning(text);
}

void ProgressReporter::report() {
  last_report_ = std::chrono::steady_clock::now();
  if (options_.on_progress) options_.on_progress(current_);
}

}  // namespace sotto::registry
