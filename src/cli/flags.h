// A table-driven reader of command lines whose flags are not all in GNU style.
//
// Scripts written for whisper-cli use single-dash flags of several letters (-otxt, -tpi 0.2),
// scripts for openai-whisper pass booleans as words (--fp16 False). Option libraries read `-otxt`
// as four flags, so the tables are read here: one row a flag, with every spelling, what follows it,
// what it does and its help line.
#ifndef SOTTO_CLI_FLAGS_H_
#define SOTTO_CLI_FLAGS_H_

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/status.h"

namespace sotto::cli {

/// A flag as it stood on the command line.
struct FlagUse {
  std::string spelling;  ///< "--beam_size"
  std::string value;     ///< What followed; empty when nothing may follow
};

/// What a flag takes and does with it. Made by the functions below or from a lambda.
struct FlagAction {
  enum class Takes {
    kNothing,
    kValue,  ///< The next argument, whatever it looks like (file names and numbers may begin with
             ///< '-')
    kMaybeBool,  ///< The next argument only if it is the word True or False, in any case
  };
  Takes takes = Takes::kNothing;
  std::function<Status(const FlagUse&)> apply;
};

struct Flag {
  std::string_view names;    ///< All spellings, separated by one space: "-bs --beam-size"
  std::string_view metavar;  ///< Name of the value in the help: "N"; empty for a switch
  std::string_view help;     ///< Empty: accepted but not listed
  FlagAction action;
};

struct FlagSection {
  std::string_view title;  ///< Empty: not in the help
  std::vector<Flag> flags;
};

/// Actions that keep a value. The target must outlive the table. Numbers outside [minimum, maximum]
/// are errors.
FlagAction turn(bool& target, bool to);
FlagAction store(bool& target);
FlagAction store(std::string& target);
/// The word None is taken, too, where it has a meaning: as `none`, or to empty the target.
FlagAction store(int& target, int minimum, int maximum, std::optional<int> none = {});
FlagAction store(float& target, float minimum, float maximum);
FlagAction store(std::optional<float>& target, float minimum, float maximum);
FlagAction append(std::vector<std::string>& target);
FlagAction call(std::function<void()> action);
FlagAction with_value(std::function<Status(const FlagUse&)> action);

/// Whole texts as numbers; the error names the flag.
Status read_number(const FlagUse& use, int minimum, int maximum, int& out);
Status read_number(const FlagUse& use, float minimum, float maximum, float& out);
/// "True"/"False" in any case; nullopt for any other word.
std::optional<bool> bool_word(std::string_view text);

/// Applies every flag of `arguments` in order and collects the rest; after "--" everything is
/// positional. '-' and '_' are the same inside long names, and a long flag takes its value also as
/// --name=value. An unknown flag is an error that names the nearest known one.
Status parse_flags(std::span<const std::string> arguments, std::span<const FlagSection> sections,
                   std::vector<std::string>& positional);

/// The sections as text for a terminal, `width` columns wide.
std::string format_help(std::span<const FlagSection> sections, int width);

}  // namespace sotto::cli

#endif  // SOTTO_CLI_FLAGS_H_
