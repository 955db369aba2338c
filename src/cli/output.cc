#include "cli/output.h"

#include <cerrno>
#include <cstdio>
#include <string>

#include "cli/interrupt.h"

namespace sotto::cli {
namespace {

bool reader_went_away = false;

/// The message under its label, later lines indented; one write, so that lines of two processes do
/// not mix.
void print_labelled(std::string_view label, std::string_view text,
                    std::string_view second_line_label) {
  std::string out = "sotto: " + std::string(label) + ": ";
  bool labelled = false;
  for (const char c : text) {
    out += c;
    if (c != '\n') continue;
    out += "  ";
    if (!labelled) out += second_line_label;
    labelled = true;
  }
  out += '\n';
  std::fwrite(out.data(), 1, out.size(), stderr);
}

}  // namespace

Status write_stdout(std::string_view text) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return {};
  if (errno == EPIPE) {
    reader_went_away = true;
    return cancelled("the reader of standard output went away");
  }
  return status_from_errno(errno, "cannot write to standard output");
}

bool stdout_closed() {
  return reader_went_away;
}

void print_error(const Status& status) {
  print_labelled("error", status.message(), "fix: ");
}
void print_warning(std::string_view text) {
  print_labelled("warning", text, "");
}
void print_note(std::string_view text) {
  print_labelled("note", text, "");
}

int report(const Status& status, ExitCode otherwise) {
  if (status.ok()) return kExitOk;
  if (stdout_closed()) return kExitClosedPipe;
  print_error(status);
  if (interrupted() || status.code() == StatusCode::kCancelled) return kExitInterrupted;
  return status.code() == StatusCode::kInvalidArgument ? kExitUsage : otherwise;
}

}  // namespace sotto::cli
