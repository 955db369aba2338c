#include "cli/pull_display.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/model_output.h"
#include "cli/output.h"
#include "cli/terminal.h"

namespace sotto::cli {
namespace {

using Json = nlohmann::json;

void write_stderr(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

std::string time_text(double seconds) {
  constexpr double kLongest = 359999;  // 99:59:59
  const auto whole = static_cast<int64_t>(std::min(seconds, kLongest));
  if (whole >= 3600) {
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  }
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

double fraction(const PullProgress& progress) {
  if (progress.total <= 0) return 0;
  return std::clamp(static_cast<double>(progress.completed) / static_cast<double>(progress.total),
                    0.0, 1.0);
}

bool has_bytes(const PullProgress& progress) {
  return progress.completed >= 0;
}

}  // namespace

std::string pull_json_line(const PullProgress& progress) {
  Json json = {{"status", progress.status}};
  if (!progress.digest.empty()) json["digest"] = progress.digest;
  if (progress.total >= 0) json["total"] = progress.total;
  if (progress.completed >= 0) json["completed"] = progress.completed;
  return json_line(json);
}

std::string progress_bar(const PullProgress& progress, double rate, int width) {
  const auto room = static_cast<size_t>(std::max(width, 1));
  std::string head = printable(progress.status) + "  ";
  if (progress.total <= 0) {
    return (head + size_text(progress.completed)).substr(0, room);
  }
  const int percent = static_cast<int>(fraction(progress) * 100);
  const std::string numbers = fmt::format(" {:3}%  {} / {}", percent, size_text(progress.completed),
                                          size_text(progress.total));
  std::string speed;
  if (rate > 0) {
    const auto left = static_cast<double>(progress.total - progress.completed);
    speed = fmt::format("  {}/s  {} left", size_text(static_cast<int64_t>(rate)),
                        time_text(left / rate));
  }
  constexpr size_t kShortestBar = 10, kLongestBar = 40, kBrackets = 2;
  if (head.size() + numbers.size() + speed.size() + kBrackets + kShortestBar > room) speed.clear();
  const size_t used = head.size() + numbers.size() + speed.size() + kBrackets;
  if (used + kShortestBar > room) return (head + numbers).substr(0, room);
  const size_t length = std::min(kLongestBar, room - used);
  const auto full = static_cast<size_t>(fraction(progress) * static_cast<double>(length));
  return head + "[" + std::string(full, '#') + std::string(length - full, ' ') + "]" + numbers +
         speed;
}

void PullDisplay::show(const PullProgress& progress) {
  if (progress.status != current_) {
    current_ = progress.status;
    tenths_shown_ = 0;
    first_completed_ = -1;
  }
  switch (style_) {
    case PullStyle::kBar:
      return show_bar(progress);
    case PullStyle::kLines:
      return show_line(progress);
    case PullStyle::kJson:
      return write(pull_json_line(progress));
    case PullStyle::kQuiet:
      return;
  }
}

void PullDisplay::show_bar(const PullProgress& progress) {
  const auto now = std::chrono::steady_clock::now();
  double rate = 0;
  if (has_bytes(progress) && progress.completed > 0) {
    if (first_completed_ < 0 || progress.completed < first_completed_) {
      // What an earlier pull left counts for nothing.
      first_completed_ = progress.completed;
      began_ = now;
    }
    const double seconds = std::chrono::duration<double>(now - began_).count();
    const auto bytes = static_cast<double>(progress.completed - first_completed_);
    constexpr double kShortest = 0.5;  // less says nothing about speed
    if (seconds > kShortest) rate = bytes / seconds;
  }
  const int width = terminal_width(stderr) - 1;
  const std::string text =
      has_bytes(progress) ? progress_bar(progress, rate, width) : printable(progress.status);
  write_stderr("\r\x1b[K" + text);
  bar_is_shown_ = true;
}

void PullDisplay::show_line(const PullProgress& progress) {
  constexpr int64_t kWorthTenths = 10'000'000;
  const bool is_first = tenths_shown_ == 0;
  const int tenths = static_cast<int>(fraction(progress) * 10);
  if (has_bytes(progress) && !is_first &&
      (progress.total < kWorthTenths || tenths < tenths_shown_)) {
    return;
  }
  std::string line = model_ + ": " + printable(progress.status);
  if (has_bytes(progress) && is_first) line += " (" + size_text(progress.total) + ")";
  if (has_bytes(progress) && !is_first) line += fmt::format(" {}%", tenths * 10);
  tenths_shown_ = tenths + 1;
  write_stderr(line + "\n");
}

void PullDisplay::write(const std::string& text) {
  const Status status = write_stdout(text);
  if (output_status_.ok()) output_status_ = status;
}

void PullDisplay::clear_bar() {
  if (bar_is_shown_) write_stderr("\r\x1b[K");
  bar_is_shown_ = false;
}

void PullDisplay::warn(const std::string& text) {
  clear_bar();
  print_warning(text);
}

void PullDisplay::finish(const Result<PullResult>& result) {
  clear_bar();
  if (style_ == PullStyle::kQuiet) return;
  if (style_ == PullStyle::kJson) {
    if (!result.ok()) write(json_line({{"error", result.status().message()}}));
    return;
  }
  if (!result.ok()) return;
  const ModelInfo& model = result->model;
  if (result->was_installed) {
    write(fmt::format("{}: is installed already in {}\n", model.name, printable(model.path)));
  } else {
    write(fmt::format("{}: installed in {} ({} from {})\n", model.name, printable(model.path),
                      size_text(model.bytes), printable(model.source)));
  }
}

}  // namespace sotto::cli
