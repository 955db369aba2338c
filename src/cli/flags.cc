#include "cli/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "base/closest_match.h"

namespace sotto::cli {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool is_long(std::string_view argument) {
  return argument.starts_with("--");
}

/// The spelling used in the tables.
std::string canonical(std::string_view spelling) {
  std::string name(spelling);
  if (is_long(name)) std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

const Flag* find_flag(std::span<const FlagSection> sections, std::string_view name) {
  for (const FlagSection& section : sections) {
    for (const Flag& flag : section.flags) {
      for (const std::string_view spelling : split(flag.names, ' ')) {
        if (spelling == name) return &flag;
      }
    }
  }
  return nullptr;
}

Status unknown_flag(std::span<const FlagSection> sections, std::string_view argument) {
  std::vector<std::string> spellings;
  for (const FlagSection& section : sections) {
    for (const Flag& flag : section.flags) {
      for (const std::string_view spelling : split(flag.names, ' '))
        spellings.emplace_back(spelling);
    }
  }
  const std::string nearest = closest_match(canonical(argument), spellings);
  std::string message = fmt::format("unknown flag '{}'", argument);
  if (!nearest.empty()) message += fmt::format("; did you mean {}?", nearest);
  return invalid_argument(fmt::format(
      "{}\n--help lists all flags; write ./{} for a file of that name", message, argument));
}

/// Breaks at spaces so that no line is longer than `width`.
std::vector<std::string> wrap(std::string_view text, size_t width) {
  std::vector<std::string> lines(1);
  for (const std::string_view word : split(text, ' ')) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width)
      lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

std::string help_heading(const Flag& flag) {
  const std::vector<std::string_view> names = split(flag.names, ' ');
  std::string heading = is_long(names.front()) ? "      " : "  ";
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) heading += ", ";
    heading += names[i];
  }
  if (!flag.metavar.empty()) heading += fmt::format(" {}", flag.metavar);
  return heading;
}

}  // namespace

std::optional<bool> bool_word(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (lower == "true") return true;
  if (lower == "false") return false;
  return std::nullopt;
}

Status read_number(const FlagUse& use, int minimum, int maximum, int& out) {
  int value = 0;
  const char* end = use.value.data() + use.value.size();
  const auto [stop, error] = std::from_chars(use.value.data(), end, value);
  if (error != std::errc() || stop != end || value < minimum || value > maximum) {
    return invalid_argument(fmt::format("{} takes a whole number from {} to {}, not '{}'",
                                        use.spelling, minimum, maximum, use.value));
  }
  out = value;
  return {};
}

Status read_number(const FlagUse& use, float minimum, float maximum, float& out) {
  float value = 0;
  const char* end = use.value.data() + use.value.size();
  const auto [stop, error] = std::from_chars(use.value.data(), end, value);
  const bool in_range = value >= minimum && value <= maximum;  // false for NaN
  if (error != std::errc() || stop != end || !in_range) {
    return invalid_argument(fmt::format("{} takes a number from {} to {}, not '{}'", use.spelling,
                                        minimum, maximum, use.value));
  }
  out = value;
  return {};
}

FlagAction turn(bool& target, bool to) {
  return call([&target, to] { target = to; });
}

FlagAction store(bool& target) {
  return {FlagAction::Takes::kMaybeBool, [&target](const FlagUse& use) -> Status {
            target = bool_word(use.value).value_or(true);
            return {};
          }};
}

FlagAction store(std::string& target) {
  return with_value([&target](const FlagUse& use) -> Status {
    target = use.value;
    return {};
  });
}

FlagAction store(int& target, int minimum, int maximum, std::optional<int> none) {
  return with_value([&target, minimum, maximum, none](const FlagUse& use) -> Status {
    if (none && use.value == "None") {
      target = *none;
      return {};
    }
    return read_number(use, minimum, maximum, target);
  });
}

FlagAction store(float& target, float minimum, float maximum) {
  return with_value([&target, minimum, maximum](const FlagUse& use) {
    return read_number(use, minimum, maximum, target);
  });
}

FlagAction store(std::optional<float>& target, float minimum, float maximum) {
  return with_value([&target, minimum, maximum](const FlagUse& use) -> Status {
    if (use.value == "None") {
      target.reset();
      return {};
    }
    float value = 0;
    SOTTO_RETURN_IF_ERROR(read_number(use, minimum, maximum, value));
    target = value;
    return {};
  });
}

FlagAction append(std::vector<std::string>& target) {
  return with_value([&target](const FlagUse& use) -> Status {
    target.push_back(use.value);
    return {};
  });
}

FlagAction call(std::function<void()> action) {
  return {FlagAction::Takes::kNothing, [action = std::move(action)](const FlagUse&) -> Status {
            action();
            return {};
          }};
}

FlagAction with_value(std::function<Status(const FlagUse&)> action) {
  return {FlagAction::Takes::kValue, std::move(action)};
}

Status parse_flags(std::span<const std::string> arguments, std::span<const FlagSection> sections,
                   std::vector<std::string>& positional) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      positional.insert(positional.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                        arguments.end());
      break;
    }
    if (argument == "-" || !argument.starts_with('-')) {
      positional.push_back(argument);
      continue;
    }
    const size_t equals = is_long(argument) ? argument.find('=') : std::string::npos;
    FlagUse use{argument.substr(0, equals), ""};
    const bool attached = equals != std::string::npos;
    if (attached) use.value = argument.substr(equals + 1);

    const Flag* flag = find_flag(sections, canonical(use.spelling));
    if (flag == nullptr) return unknown_flag(sections, use.spelling);
    const bool more = i + 1 < arguments.size();
    switch (flag->action.takes) {
      case FlagAction::Takes::kNothing:
        if (attached) return invalid_argument(use.spelling + " takes no value");
        break;
      case FlagAction::Takes::kValue:
        if (!attached && !more) {
          return invalid_argument(
              fmt::format("{} needs a value ({})", use.spelling, flag->metavar));
        }
        if (!attached) use.value = arguments[++i];
        break;
      case FlagAction::Takes::kMaybeBool:
        if (!attached && more && bool_word(arguments[i + 1])) use.value = arguments[++i];
        if (attached && !bool_word(use.value)) {
          return invalid_argument(
              fmt::format("{} takes True or False, not '{}'", use.spelling, use.value));
        }
        break;
    }
    SOTTO_RETURN_IF_ERROR(flag->action.apply(use));
  }
  return {};
}

std::string format_help(std::span<const FlagSection> sections, int width) {
  constexpr size_t kColumn = 34;
  const size_t text_width = static_cast<size_t>(std::max(width, 60)) - kColumn;
  std::string help;
  for (const FlagSection& section : sections) {
    if (section.title.empty()) continue;
    help += fmt::format("{}:\n", section.title);
    for (const Flag& flag : section.flags) {
      if (flag.help.empty()) continue;
      std::string line = help_heading(flag);
      if (line.size() + 2 > kColumn) {
        help += line + "\n";
        line.clear();
      }
      for (const std::string& text : wrap(flag.help, text_width)) {
        help += fmt::format("{:<{}}{}\n", line, kColumn, text);
        line.clear();
      }
    }
    help += '\n';
  }
  return help;
}

}  // namespace sotto::cli
