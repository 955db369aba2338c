#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace sotto::cli {

std::string printable(std::string_view text) {
  std::string safe(text);
  std::replace_if(
      safe.begin(), safe.end(), [](char c) { return (c >= 0 && c < ' ') || c == 0x7F; }, '?');
  return safe;
}

bool is_terminal(FILE* stream) {
  return ::isatty(::fileno(stream)) == 1;
}

int terminal_width(FILE* stream) {
  constexpr int kDefault = 100;
  winsize size{};
  const bool known =
      is_terminal(stream) && ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? static_cast<int>(size.ws_col) : kDefault;
}

}  // namespace sotto::cli
