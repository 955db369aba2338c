// How a pull looks: a bar on a terminal, plain lines elsewhere, JSON lines for programs.
#ifndef SOTTO_CLI_PULL_DISPLAY_H_
#define SOTTO_CLI_PULL_DISPLAY_H_

#include <chrono>
#include <cstdio>
#include <string>

#include "sotto/models.h"
#include "sotto/status.h"

namespace sotto::cli {

enum class PullStyle {
  kBar,    ///< Standard error, redrawn in place
  kLines,  ///< Standard error, a line every tenth of a file
  kJson,   ///< Standard output, Ollama's /api/pull lines
  kQuiet,  ///< Only warnings and errors
};

/// The JSON line of one step.
std::string pull_json_line(const PullProgress& progress);

/// One line that says how far a file is, at most `width` columns wide; without `rate` (bytes per
/// second, 0: not known) and the time left where there is no room for them.
std::string progress_bar(const PullProgress& progress, double rate, int width);

class PullDisplay {
 public:
  PullDisplay(PullStyle style, std::string model) : style_(style), model_(std::move(model)) {}
  ~PullDisplay() { clear_bar(); }
  PullDisplay(const PullDisplay&) = delete;
  PullDisplay& operator=(const PullDisplay&) = delete;

  void show(const PullProgress& progress);
  void warn(const std::string& text);
  /// Writes the last line of a pull that worked, or the JSON of one that did not. Takes the bar off
  /// the screen.
  void finish(const Result<PullResult>& result);
  /// The first failure of writing to standard output, if any: nobody reads, so the pull can stop.
  [[nodiscard]] const Status& output_status() const { return output_status_; }

 private:
  void show_bar(const PullProgress& progress);
  void show_line(const PullProgress& progress);
  void write(const std::string& text);
  void clear_bar();

  PullStyle style_;
  std::string model_;
  Status output_status_;
  bool bar_is_shown_ = false;
  std::string current_;  ///< The step on display
  int tenths_shown_ = 0;
  int64_t first_completed_ = 0;  ///< Where the current file began in this process
  std::chrono::steady_clock::time_point began_;
};

}  // namespace sotto::cli

#endif  // SOTTO_CLI_PULL_DISPLAY_H_
