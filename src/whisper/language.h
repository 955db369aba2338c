// Which language is spoken.
#ifndef SOTTO_WHISPER_LANGUAGE_H_
#define SOTTO_WHISPER_LANGUAGE_H_

#include <map>
#include <string>
#include <vector>

#include "sotto/status.h"
#include "sotto/transcribe.h"
#include "whisper/model.h"

namespace sotto::whisper {

struct DetectedLanguage {
  std::string code;
  float probability = 0;
  std::map<std::string, float> probabilities;  ///< Sums to 1 over the languages that were allowed
};

/// The language options of a transcription as codes.
struct LanguageChoice {
  std::string given;                 ///< Empty: to be detected
  std::vector<std::string> allowed;  ///< What detection may answer; empty: all
};

/// Resolves names and aliases. kInvalidArgument for a language that the model does not know; an
/// English-only model knows English only and never needs detection.
Result<LanguageChoice> resolve_language(const Model& model, const TranscribeOptions& options);

/// Asks the model: one decoder step on the start-of-transcript token. For multilingual models only.
Result<DetectedLanguage> detect_language(const Model& model, Decoder& decoder,
                                         const EncodedWindow& window,
                                         const std::vector<std::string>& allowed);

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_LANGUAGE_H_
