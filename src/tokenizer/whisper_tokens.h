// Whisper's special tokens on top of a Tokenizer.
#ifndef SOTTO_TOKENIZER_WHISPER_TOKENS_H_
#define SOTTO_TOKENIZER_WHISPER_TOKENS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/languages.h"
#include "sotto/status.h"
#include "tokenizer/tokenizer.h"

namespace sotto::tokenizer {

/// <|0.00|> to <|30.00|> in steps of 20 ms.
inline constexpr int kWhisperTimestamps = 1501;

using sotto::Language;
using sotto::language_code;
using sotto::languages;

/// Ids of the special tokens; they follow the ordinary vocabulary in a fixed order that depends on
/// `multilingual` and on the number of languages.
struct WhisperTokens {
  int eot = 0, sot = 0, translate = 0, transcribe = 0, sot_lm = 0, sot_prev = 0, no_speech = 0,
      no_timestamps = 0;
  int timestamp_begin = 0;  ///< <|0.00|>; 1501 tokens of 20 ms
  int first_language = 0;
  int language_count = 0;  ///< 99 or 100; English-only models have the tokens, too, unused
  bool multilingual = false;

  [[nodiscard]] int language_token(std::string_view code) const;  ///< -1 if unknown
  [[nodiscard]] std::string_view language_of(int token) const;    ///< "" if not a language token
  [[nodiscard]] bool is_timestamp(int id) const { return id >= timestamp_begin; }
};

/// From the vocabulary size: 51864 English-only, 51865 multilingual (99 languages), 51866 (100
/// languages).
Result<WhisperTokens> whisper_tokens(int vocabulary_size);

/// Literal text of a special token, e.g. "<|en|>" or "<|0.02|>"; "" when `id` is none.
std::string special_token_text(const WhisperTokens& tokens, int id);

/// Makes the special tokens of `data`, all from eot on, those of `tokens`: model files carry all,
/// some or none of them. Before them it needs tokens.eot ordinary tokens.
void set_whisper_specials(const WhisperTokens& tokens, BpeData& data);

/// Tokens that are not speech (brackets, music notes, …), sorted: what "suppress_tokens -1" stands
/// for, without the special tokens that decoding adds. Source: the rule of openai/whisper's
/// tokenizer.
std::vector<int> non_speech_tokens(const Tokenizer& tokenizer);

}  // namespace sotto::tokenizer

#endif  // SOTTO_TOKENIZER_WHISPER_TOKENS_H_
