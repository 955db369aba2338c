#include "models/registry/names.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "models/registry/files.h"

namespace sotto {

std::string_view model_kind_name(ModelKind kind) {
  switch (kind) {
    case ModelKind::kWhisper:
      return "whisper";
    case ModelKind::kLlm:
      return "llm";
    case ModelKind::kVad:
      return "vad";
  }
  return "unknown";
}

}  // namespace sotto

namespace sotto::registry {
namespace {

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool has_only(std::string_view text, std::string_view also_allowed) {
  return std::all_of(text.begin(), text.end(), [also_allowed](char c) {
    return is_letter_or_digit(c) || also_allowed.find(c) != std::string_view::npos;
  });
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

}  // namespace

std::string normalise_name(std::string_view name) {
  std::string lower = lower_case(name);
  std::string_view rest = lower;
  if (const size_t slash = rest.rfind('/'); slash != std::string_view::npos) {
    rest.remove_prefix(slash + 1);
  }
  for (const std::string_view prefix : {"faster-whisper-", "whisper-", "ggml-"}) {
    if (rest.starts_with(prefix) && rest.size() > prefix.size()) rest.remove_prefix(prefix.size());
  }
  for (const std::string_view suffix : {".bin", ".gguf", "-ct2"}) {
    if (rest.ends_with(suffix) && rest.size() > suffix.size()) rest.remove_suffix(suffix.size());
  }
  std::string result(rest);
  std::replace(result.begin(), result.end(), ':', '-');
  std::replace(result.begin(), result.end(), '_', '-');
  return result;
}

bool means_default_speech_model(std::string_view name) {
  constexpr std::array<std::string_view, 3> kNames = {"whisper-1", "gpt-4o-transcribe",
                                                      "gpt-4o-mini-transcribe"};
  return std::find(kNames.begin(), kNames.end(), lower_case(name)) != kNames.end();
}

bool is_model_name(std::string_view name) {
  constexpr size_t kLongest = 100;
  return !name.empty() && name.size() <= kLongest && is_letter_or_digit(name.front()) &&
         has_only(name, "._-:");
}

std::string folder_name(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), ':', '-');
  return result;
}

bool is_plain_file_name(std::string_view name) {
  constexpr size_t kLongest = 200;  // leaves room for ".part.sha256" within the usual 255
  return !name.empty() && name.size() <= kLongest && name.front() != '.' &&
         std::none_of(name.begin(), name.end(), [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return c == '/' || c == '\\' || byte < 0x20 || byte == 0x7f;
         });
}

bool is_hub_repository(std::string_view repository) {
  const size_t slash = repository.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view owner = repository.substr(0, slash), name = repository.substr(slash + 1);
  const auto is_part = [](std::string_view part) {
    return !part.empty() && part != "." && part != ".." && has_only(part, "._-");
  };
  return is_part(owner) && is_part(name);
}

Result<ModelKind> parse_model_kind(std::string_view name) {
  for (const ModelKind kind : {ModelKind::kWhisper, ModelKind::kLlm, ModelKind::kVad}) {
    if (model_kind_name(kind) == name) return kind;
  }
  return invalid_argument("unknown kind of model '" + std::string(name) +
                          "'\nuse whisper, llm or vad");
}

Result<Aliases> parse_aliases(std::string_view text, std::string_view origin) {
  Aliases aliases;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const size_t equals = line.find('=');
    const std::string_view name = trimmed(line.substr(0, equals));
    const std::string_view target =
        equals == std::string_view::npos ? std::string_view() : trimmed(line.substr(equals + 1));
    if (name.empty() || target.empty()) {
      return invalid_argument(std::string(origin) + ":" + std::to_string(number) +
                              ": not of the form NAME = MODEL\ncorrect or delete that line");
    }
    aliases[lower_case(name)] = std::string(target);
  }
  return aliases;
}

std::optional<std::string> find_alias(const Aliases& aliases, std::string_view name) {
  const auto found = aliases.find(lower_case(name));
  return found == aliases.end() ? std::nullopt : std::optional(found->second);
}

Result<Aliases> load_aliases() {
  const char* from_environment = std::getenv("SOTTO_ALIASES");
  const bool is_named = from_environment != nullptr && *from_environment != '\0';
  const std::string path = is_named ? from_environment : config_folder() + "/aliases";
  if (!is_named && !path_exists(path)) return Aliases();
  constexpr int64_t kLargestFile = int64_t{1} << 20;
  SOTTO_ASSIGN_OR_RETURN(const std::string text, read_text_file(path, kLargestFile));
  return parse_aliases(text, path);
}

}  // namespace sotto::registry
