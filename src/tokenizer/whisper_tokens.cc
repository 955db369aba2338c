#include "tokenizer/whisper_tokens.h"

#include <algorithm>
#include <set>
#include <span>

namespace sotto::tokenizer {
namespace {

// translate, transcribe, startoflm, startofprev, nospeech, notimestamps
constexpr int kTasksAndMarks = 6;
constexpr int kFirstLanguages = 99;  // large-v3 added one
constexpr int kEnglishVocabulary = 51864;
constexpr int kMultilingualVocabulary = 51865;
constexpr int kLargeV3Vocabulary = 51866;

std::string two_decimals(int hundredths) {
  const int rest = hundredths % 100;
  return std::to_string(hundredths / 100) + (rest < 10 ? ".0" : ".") + std::to_string(rest);
}

}  // namespace

int WhisperTokens::language_token(std::string_view code) const {
  const auto known = languages().first(static_cast<size_t>(language_count));
  const auto found = std::find_if(known.begin(), known.end(), [code](const Language& language) {
    return language.code == code;
  });
  return found == known.end() ? -1 : first_language + static_cast<int>(found - known.begin());
}

std::string_view WhisperTokens::language_of(int token) const {
  const int index = token - first_language;
  if (index < 0 || index >= language_count) return {};
  return languages()[static_cast<size_t>(index)].code;
}

Result<WhisperTokens> whisper_tokens(int vocabulary_size) {
  if (vocabulary_size < kEnglishVocabulary || vocabulary_size > kLargeV3Vocabulary) {
    return unsupported(
        "a vocabulary of " + std::to_string(vocabulary_size) +
        " tokens is not one of Whisper's: 51864 (English), 51865 or 51866 (multilingual)");
  }
  WhisperTokens tokens;
  tokens.multilingual = vocabulary_size >= kMultilingualVocabulary;
  tokens.language_count = kFirstLanguages + (vocabulary_size == kLargeV3Vocabulary ? 1 : 0);
  tokens.eot = vocabulary_size - kWhisperTimestamps - kTasksAndMarks - tokens.language_count - 2;
  tokens.sot = tokens.eot + 1;
  tokens.first_language = tokens.sot + 1;
  tokens.translate = tokens.first_language + tokens.language_count;
  tokens.transcribe = tokens.translate + 1;
  tokens.sot_lm = tokens.transcribe + 1;
  tokens.sot_prev = tokens.sot_lm + 1;
  tokens.no_speech = tokens.sot_prev + 1;
  tokens.no_timestamps = tokens.no_speech + 1;
  tokens.timestamp_begin = tokens.no_timestamps + 1;
  return tokens;
}

std::string special_token_text(const WhisperTokens& tokens, int id) {
  if (const auto code = tokens.language_of(id); !code.empty()) {
    return "<|" + std::string(code) + "|>";
  }
  if (id >= tokens.timestamp_begin && id < tokens.timestamp_begin + kWhisperTimestamps) {
    return "<|" + two_decimals((id - tokens.timestamp_begin) * 2) + "|>";
  }
  if (id == tokens.eot) return "<|endoftext|>";
  if (id == tokens.sot) return "<|startoftranscript|>";
  if (id == tokens.translate) return "<|translate|>";
  if (id == tokens.transcribe) return "<|transcribe|>";
  if (id == tokens.sot_lm) return "<|startoflm|>";
  if (id == tokens.sot_prev) return "<|startofprev|>";
  if (id == tokens.no_speech) return "<|nospeech|>";
  if (id == tokens.no_timestamps) return "<|notimestamps|>";
  return {};
}

void set_whisper_specials(const WhisperTokens& tokens, BpeData& data) {
  data.tokens.resize(static_cast<size_t>(tokens.eot));
  data.special.clear();
  const int end = tokens.timestamp_begin + kWhisperTimestamps;
  for (int id = tokens.eot; id < end; ++id) {
    std::string text = special_token_text(tokens, id);
    data.special.emplace(text, id);
    data.tokens.push_back(std::move(text));
  }
}

std::vector<int> non_speech_tokens(const Tokenizer& tokenizer) {
  // Suppressed, bare and after a space, where the whole is a single token.
  constexpr std::string_view kSymbols[] = {
      "\"",  "#",  "(",  ")",   "*",   "+",   "/",   ":",  ";",   "<",  "=",  ">",
      "@",   "[",  "\\", "]",   "^",   "_",   "`",   "{",  "|",   "}",  "~",  "「",
      "」",  "『", "』", "<<",  ">>",  "<<<", ">>>", "--", "---", "-(", "-[", "('",
      "(\"", "((", "))", "(((", ")))", "[[",  "]]",  "{{", "}}",  "♪♪", "♪♪♪"};
  // Musical signs may take several tokens; all of U+2640..267F share the first, and none of them is
  // speech.
  constexpr std::string_view kMusic[] = {"♩", "♪", "♫", "♬", "♭", "♮", "♯"};

  // Hyphen and apostrophe are fine inside a word, not at its beginning.
  std::set<int> found = {tokenizer.encode(" -").front(), tokenizer.encode(" '").front()};
  const auto add = [&](std::string_view symbol, bool whole_only) {
    for (const std::string& text : {std::string(symbol), " " + std::string(symbol)}) {
      const std::vector<int> ids = tokenizer.encode(text);
      if (ids.size() == 1 || !whole_only) found.insert(ids.front());
    }
  };
  for (const std::string_view symbol : kSymbols)
    add(symbol, true);
  for (const std::string_view sign : kMusic)
    add(sign, false);
  return {found.begin(), found.end()};
}

}  // namespace sotto::tokenizer
