// What the decoder reads before it writes: earlier text, the task, and text given by the caller.
#ifndef SOTTO_WHISPER_PROMPT_H_
#define SOTTO_WHISPER_PROMPT_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sotto/transcribe.h"
#include "whisper/model.h"

namespace sotto::whisper {

/// The tokens of one window's prompt:
///   [sot_prev, hotwords, earlier text] sot, language, task, [no_timestamps] [prefix]
struct Prompt {
  std::vector<int> tokens;
  size_t sot = 0;  ///< Index of the start-of-transcript token
  size_t given =
      0;  ///< Number of tokens at the end that belong to the transcript already (the prefix)

  /// The tokens after the start-of-transcript sequence.
  [[nodiscard]] std::span<const int> transcript() const { return std::span(tokens).last(given); }
};

/// Start-of-transcript, and for multilingual models the language and the task. `language` is a
/// Whisper code.
std::vector<int> start_sequence(const tokenizer::WhisperTokens& tokens, const std::string& language,
                                Task task);

/// Makes the prompts of a recording and remembers the text that they carry on. A prompt that is too
/// long is cut, never refused: of earlier text the end is kept, of hotwords and prefix the start.
/// At most half of the text context less one token stands before the start-of-transcript token, as
/// in openai/whisper.
class PromptBuilder {
 public:
  PromptBuilder(const Model& model, const TranscribeOptions& options, const std::string& language);

  /// Prompt of the next window; `first`: the prefix applies.
  [[nodiscard]] Prompt next(bool first) const;
  /// Adds what a window decoded (text and timestamps) to the earlier text.
  void append(std::span<const int> tokens);
  /// Language of the windows to come.
  void set_language(const std::string& language);
  /// Forgets the earlier text, and the initial prompt unless it is carried on.
  void forget() { history_.clear(); }

 private:
  [[nodiscard]] std::vector<int> context(size_t room) const;

  const tokenizer::WhisperTokens& tokens_;
  Task task_;
  bool without_timestamps_;
  size_t half_context_;
  size_t max_context_;       ///< Tokens between sot_prev and sot
  std::vector<int> start_;   ///< Start-of-transcript sequence
  std::vector<int> prefix_;  ///< With the timestamp that opens it
  std::vector<int>
      fixed_;  ///< Before the earlier text of every window: hotwords, carried initial prompt
  std::vector<int> history_;  ///< Earlier text, its last max_context_ tokens
};

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_PROMPT_H_
