// Names of languages as users write them.
#include <fmt/format.h>

#include "base/languages.h"
#include "sotto/transcribe.h"

namespace sotto {

Result<std::string> parse_language(std::string_view name) {
  std::string code = language_code(name);
  if (!code.empty()) return code;
  std::string known;
  for (const Language& language : languages()) {
    known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", language.code, language.name);
  }
  return invalid_argument(fmt::format("unknown language '{}'\nuse one of: {}", name, known));
}

}  // namespace sotto
