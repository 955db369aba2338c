// The languages that Whisper knows, by code and by name.
#ifndef SOTTO_BASE_LANGUAGES_H_
#define SOTTO_BASE_LANGUAGES_H_

#include <span>
#include <string>
#include <string_view>

namespace sotto {

struct Language {
  std::string_view code;  ///< "en"
  std::string_view name;  ///< "english"
};

/// In the order of their token ids: 100, of which the first 99 are in the models before large-v3.
/// Source: the tokenizer table of openai/whisper.
std::span<const Language> languages();

/// Whisper code of a code, English name, alias ("castilian", "mandarin", …) or locale ("en-US",
/// "pt_BR"), any case; "" if unknown.
std::string language_code(std::string_view name);

/// English name of a Whisper code, lower case; the code itself when it is unknown.
std::string_view language_name(std::string_view code);

}  // namespace sotto

#endif  // SOTTO_BASE_LANGUAGES_H_
