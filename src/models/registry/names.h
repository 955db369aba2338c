// The many spellings of a model's name.
#ifndef SOTTO_MODELS_REGISTRY_NAMES_H_
#define SOTTO_MODELS_REGISTRY_NAMES_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sotto/models.h"
#include "sotto/status.h"

namespace sotto::registry {

/// What all spellings of one model have in common: lower case; owner ("Systran/"), "whisper-",
/// "faster-whisper-", "ggml-", ".bin", ".gguf" and "-ct2" taken off; ':' and '_' become '-'.
std::string normalise_name(std::string_view name);

/// True for names that clients send whatever is installed ("whisper-1", "gpt-4o-transcribe", …):
/// they mean the default speech model.
bool means_default_speech_model(std::string_view name);

/// Letters, digits, '.', '_', '-' and ':', at most 100, the first one a letter or digit.
bool is_model_name(std::string_view name);

/// A model's folder in the store: its name with ':' as '-'. `name` is one that is_model_name().
std::string folder_name(std::string_view name);

/// A file name that stays in its folder: no '/', no control characters, not "." or "..", not
/// hidden.
bool is_plain_file_name(std::string_view name);

/// "OWNER/NAME", each of letters, digits, '.', '_' and '-', and neither "." nor "..".
bool is_hub_repository(std::string_view repository);

Result<ModelKind> parse_model_kind(std::string_view name);

/// The user's own names: lower case name -> model name or path.
using Aliases = std::map<std::string, std::string, std::less<>>;

/// Lines of "NAME = MODEL-OR-PATH"; '#' starts a comment. A line that reads otherwise is an error
/// with its number.
Result<Aliases> parse_aliases(std::string_view text, std::string_view origin);

/// What `name` (in any case) stands for, if it is one of the user's.
std::optional<std::string> find_alias(const Aliases& aliases, std::string_view name);

/// The file $SOTTO_ALIASES, else $XDG_CONFIG_HOME/sotto/aliases; none gives no aliases.
Result<Aliases> load_aliases();

}  // namespace sotto::registry

#endif  // SOTTO_MODELS_REGISTRY_NAMES_H_
