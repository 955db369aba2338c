#include "base/languages.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace sotto {
namespace {

constexpr std::array<Language, 100> kLanguages = {{
    {"en", "english"},        {"zh", "chinese"},     {"de", "german"},        {"es", "spanish"},
    {"ru", "russian"},        {"ko", "korean"},      {"fr", "french"},        {"ja", "japanese"},
    {"pt", "portuguese"},     {"tr", "turkish"},     {"pl", "polish"},        {"ca", "catalan"},
    {"nl", "dutch"},          {"ar", "arabic"},      {"sv", "swedish"},       {"it", "italian"},
    {"id", "indonesian"},     {"hi", "hindi"},       {"fi", "finnish"},       {"vi", "vietnamese"},
    {"he", "hebrew"},         {"uk", "ukrainian"},   {"el", "greek"},         {"ms", "malay"},
    {"cs", "czech"},          {"ro", "romanian"},    {"da", "danish"},        {"hu", "hungarian"},
    {"ta", "tamil"},          {"no", "norwegian"},   {"th", "thai"},          {"ur", "urdu"},
    {"hr", "croatian"},       {"bg", "bulgarian"},   {"lt", "lithuanian"},    {"la", "latin"},
    {"mi", "maori"},          {"ml", "malayalam"},   {"cy", "welsh"},         {"sk", "slovak"},
    {"te", "telugu"},         {"fa", "persian"},     {"lv", "latvian"},       {"bn", "bengali"},
    {"sr", "serbian"},        {"az", "azerbaijani"}, {"sl", "slovenian"},     {"kn", "kannada"},
    {"et", "estonian"},       {"mk", "macedonian"},  {"br", "breton"},        {"eu", "basque"},
    {"is", "icelandic"},      {"hy", "armenian"},    {"ne", "nepali"},        {"mn", "mongolian"},
    {"bs", "bosnian"},        {"kk", "kazakh"},      {"sq", "albanian"},      {"sw", "swahili"},
    {"gl", "galician"},       {"mr", "marathi"},     {"pa", "punjabi"},       {"si", "sinhala"},
    {"km", "khmer"},          {"sn", "shona"},       {"yo", "yoruba"},        {"so", "somali"},
    {"af", "afrikaans"},      {"oc", "occitan"},     {"ka", "georgian"},      {"be", "belarusian"},
    {"tg", "tajik"},          {"sd", "sindhi"},      {"gu", "gujarati"},      {"am", "amharic"},
    {"yi", "yiddish"},        {"lo", "lao"},         {"uz", "uzbek"},         {"fo", "faroese"},
    {"ht", "haitian creole"}, {"ps", "pashto"},      {"tk", "turkmen"},       {"nn", "nynorsk"},
    {"mt", "maltese"},        {"sa", "sanskrit"},    {"lb", "luxembourgish"}, {"my", "myanmar"},
    {"bo", "tibetan"},        {"tl", "tagalog"},     {"mg", "malagasy"},      {"as", "assamese"},
    {"tt", "tatar"},          {"haw", "hawaiian"},   {"ln", "lingala"},       {"ha", "hausa"},
    {"ba", "bashkir"},        {"jw", "javanese"},    {"su", "sundanese"},     {"yue", "cantonese"},
}};

struct Alias {
  std::string_view name, code;
};

// Names first (openai/whisper accepts these), then codes that other standards use for the same
// languages.
constexpr Alias kAliases[] = {
    {"burmese", "my"},
    {"valencian", "ca"},
    {"flemish", "nl"},
    {"haitian", "ht"},
    {"letzeburgesch", "lb"},
    {"pushto", "ps"},
    {"panjabi", "pa"},
    {"moldavian", "ro"},
    {"moldovan", "ro"},
    {"sinhalese", "si"},
    {"castilian", "es"},
    {"mandarin", "zh"},
    {"jv", "jw"},
    {"nb", "no"},
    {"fil", "tl"},
    {"iw", "he"},
    {"cmn", "zh"},
};

std::string exact_language_code(std::string_view name) {
  for (const Language& language : kLanguages) {
    if (name == language.code || name == language.name) return std::string(language.code);
  }
  for (const Alias& alias : kAliases) {
    if (name == alias.name) return std::string(alias.code);
  }
  return {};
}

}  // namespace

std::span<const Language> languages() {
  return kLanguages;
}

std::string language_code(std::string_view name) {
  std::string lower(name);
  for (char& c : lower)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (std::string code = exact_language_code(lower); !code.empty()) return code;
  // A locale: "en-us", "pt_br.utf-8".
  return exact_language_code(std::string_view(lower).substr(0, lower.find_first_of("-_.@")));
}

std::string_view language_name(std::string_view code) {
  const auto found =
      std::find_if(kLanguages.begin(), kLanguages.end(),
                   [code](const Language& language) { return language.code == code; });
  return found == kLanguages.end() ? code : found->name;
}

}  // namespace sotto
