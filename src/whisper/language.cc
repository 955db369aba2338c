#include "whisper/language.h"

#include <algorithm>
#include <cmath>

#include "whisper/logits.h"

namespace sotto::whisper {
namespace {

Result<std::string> known_code(const Model& model, const std::string& name) {
  const std::string code = tokenizer::language_code(name);
  if (code.empty()) {
    return invalid_argument("unknown language \"" + name +
                            "\"; use a code such as \"de\" or a name such as \"german\"");
  }
  if (!model.tokens().multilingual) {
    if (code == "en") return code;
    return invalid_argument("this model knows only English, not \"" + name +
                            "\"; use a multilingual model (one without \".en\" in its name)");
  }
  if (model.tokens().language_token(code) < 0) {
    return invalid_argument("this model does not know the language \"" + name + "\" (it knows " +
                            std::to_string(model.tokens().language_count) + " languages)");
  }
  return code;
}

}  // namespace

Result<LanguageChoice> resolve_language(const Model& model, const TranscribeOptions& options) {
  LanguageChoice choice;
  for (const std::string& name : options.languages) {
    SOTTO_ASSIGN_OR_RETURN(std::string code, known_code(model, name));
    choice.allowed.push_back(std::move(code));
  }
  if (!options.language.empty()) {
    SOTTO_ASSIGN_OR_RETURN(choice.given, known_code(model, options.language));
  } else if (!model.tokens().multilingual) {
    choice.given = "en";
  } else if (choice.allowed.size() == 1) {
    choice.given = choice.allowed.front();
  }
  return choice;
}

Result<DetectedLanguage> detect_language(const Model& model, Decoder& decoder,
                                         const EncodedWindow& window,
                                         const std::vector<std::string>& allowed) {
  const tokenizer::WhisperTokens& tokens = model.tokens();
  DecodeBatch batch;
  batch.tokens = {tokens.sot};
  batch.rows = {{0, 0}};
  batch.windows = {&window};
  batch.logit_rows = {0};
  std::vector<float> logits(static_cast<size_t>(model.config().n_vocab));
  decoder.clear();
  SOTTO_RETURN_IF_ERROR(decoder.step(batch, logits, nullptr));

  const std::span<float> all = std::span(logits).subspan(
      static_cast<size_t>(tokens.first_language), static_cast<size_t>(tokens.language_count));
  const auto code_of = [&](size_t i) {
    return std::string(tokens.language_of(tokens.first_language + static_cast<int>(i)));
  };
  if (!allowed.empty()) {
    for (size_t i = 0; i < all.size(); ++i) {
      if (std::find(allowed.begin(), allowed.end(), code_of(i)) == allowed.end()) all[i] = kNever;
    }
  }
  const float mass = log_sum_exp(all);
  if (!std::isfinite(mass))
    return internal_error("language detection: the decoder returned no usable logits");
  DetectedLanguage detected;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] != kNever) detected.probabilities[code_of(i)] = std::exp(all[i] - mass);
  }
  detected.code = code_of(static_cast<size_t>(best_token(all).id));
  detected.probability = detected.probabilities[detected.code];
  return detected;
}

}  // namespace sotto::whisper
