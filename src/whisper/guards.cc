#include "whisper/guards.h"

#include <algorithm>
#include <array>

namespace sotto::whisper {
namespace {

// A window that failed at every temperature needs less than the no-speech rule asks for.
constexpr float kShareWhenUnsure = 0.4f;
constexpr float kHighTemperature = 0.5f;

// As bare_text() gives them. Beyond ASCII only the letters' bytes are compared.
constexpr std::array<std::string_view, 33> kStockPhrases = {
    "you",
    "you you",
    "thank you",
    "thanks",
    "thank you very much",
    "thank you so much",
    "thank you for watching",
    "thanks for watching",
    "thank you so much for watching",
    "thank you for your watching",
    "thanks for listening",
    "thank you for listening",
    "please subscribe",
    "subscribe",
    "like and subscribe",
    "please subscribe to my channel",
    "bye",
    "bye bye",
    "see you next time",
    "see you in the next video",
    "i m sorry",
    "the end",
    "music",
    "applause",
    "untertitel der amara org community",
    "untertitel von stephanie geiges",
    "vielen dank",
    "sous titres réalisés par la communauté d amara org",
    "merci",
    "sottotitoli e revisione a cura di qtss",
    "продолжение следует",
    "ご視聴ありがとうございました",
    "謝謝觀看",
};

bool is_above(const std::optional<float>& threshold, float value, float share = 1) {
  return threshold && value > *threshold * share;
}

/// Improbable even when sampled at a high temperature.
bool failed_throughout(const WindowText& decoded, const TranscribeOptions& options) {
  return decoded.attempts > 1 && decoded.temperature > kHighTemperature &&
         options.logprob_threshold && decoded.avg_logprob < *options.logprob_threshold;
}

/// Whether the text is made of what the caller wrote before the recording: part of it, or its words
/// again and again.
bool echoes(const std::string& bare, std::string_view prompt) {
  const std::string given = ' ' + bare_text(prompt) + ' ';
  if (bare.empty() || given.find_first_not_of(' ') == std::string::npos) return false;
  if (given.find(bare) != std::string::npos) return true;
  constexpr double kShareOfPrompt = 0.75;
  int words = 0, known = 0;
  for (size_t begin = 0; begin < bare.size();) {
    const size_t end = std::min(bare.find(' ', begin), bare.size());
    ++words;
    if (given.find(' ' + bare.substr(begin, end - begin) + ' ') != std::string::npos) ++known;
    begin = end + 1;
  }
  return known >= kShareOfPrompt * words;
}

bool echoes_prompt(const std::string& bare, const TranscribeOptions& options) {
  return echoes(bare, options.initial_prompt) || echoes(bare, options.hotwords);
}

}  // namespace

std::string bare_text(std::string_view text) {
  std::string bare;
  for (const char c : text) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    const bool is_letter = is_upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                           static_cast<unsigned char>(c) >= 0x80;
    if (is_letter) {
      bare += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!bare.empty() && bare.back() != ' ') {
      bare += ' ';
    }
  }
  if (bare.ends_with(' ')) bare.pop_back();
  return bare;
}

bool is_stock_phrase(std::string_view text) {
  std::string bare = bare_text(text);
  constexpr std::string_view kFullStop = "。";
  if (bare.ends_with(kFullStop)) bare.resize(bare.size() - kFullStop.size());
  return std::find(kStockPhrases.begin(), kStockPhrases.end(), bare) != kStockPhrases.end();
}

std::optional<std::string_view> reason_to_drop(const WindowText& decoded,
                                               const TranscribeOptions& options) {
  if (is_silence(decoded, options)) return "no_speech";
  if (!options.drop_made_up_text) return std::nullopt;
  const float no_speech = decoded.no_speech_prob;
  if (failed_throughout(decoded, options) &&
      is_above(options.no_speech_threshold, no_speech, kShareWhenUnsure)) {
    return "unsure";
  }
  // Here the no-speech rule is undecided: it hears no speech, yet the text is probable.
  if (!is_above(options.no_speech_threshold, no_speech)) return std::nullopt;
  if (is_stock_phrase(decoded.text)) return "stock_phrase";
  if (echoes_prompt(bare_text(decoded.text), options)) return "prompt_echo";
  return std::nullopt;
}

}  // namespace sotto::whisper
