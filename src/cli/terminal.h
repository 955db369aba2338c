// Facts about the terminal, and text that is safe to show on one.
#ifndef SOTTO_CLI_TERMINAL_H_
#define SOTTO_CLI_TERMINAL_H_

#include <cstdio>
#include <string>
#include <string_view>

namespace sotto::cli {

/// Control characters as '?', so that a file name cannot steer the terminal or forge lines of a
/// message.
std::string printable(std::string_view text);

bool is_terminal(FILE* stream);

/// Columns of the terminal behind `stream`, or 100 when it is none.
int terminal_width(FILE* stream);

}  // namespace sotto::cli

#endif  // SOTTO_CLI_TERMINAL_H_
