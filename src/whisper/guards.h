// Telling text that was made up from text that was heard, by what the decoder knows of a window.
// The rules and their order: docs/decisions/0004-made-up-text.md.
#ifndef SOTTO_WHISPER_GUARDS_H_
#define SOTTO_WHISPER_GUARDS_H_

#include <optional>
#include <string>
#include <string_view>

#include "sotto/transcribe.h"
#include "whisper/fallback.h"

namespace sotto::whisper {

/// Lower-case letters and digits of `text`; everything between them is one space. For comparing.
std::string bare_text(std::string_view text);

/// Whether `text` is, but for case and punctuation, one of the phrases that Whisper writes where
/// nobody speaks: it learnt them from subtitles.
bool is_stock_phrase(std::string_view text);

/// Why the text of a decoded window is not to be believed: "no_speech", "unsure", "stock_phrase" or
/// "prompt_echo". None: it stands.
std::optional<std::string_view> reason_to_drop(const WindowText& decoded,
                                               const TranscribeOptions& options);

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_GUARDS_H_
