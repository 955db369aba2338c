// Which tokens may follow: Whisper's suppression lists and timestamp grammar, applied to logits
// before a token is chosen.
#ifndef SOTTO_WHISPER_RULES_H_
#define SOTTO_WHISPER_RULES_H_

#include <cstddef>
#include <span>
#include <vector>

#include "sotto/status.h"
#include "sotto/transcribe.h"
#include "whisper/model.h"
#include "whisper/token_mask.h"

namespace sotto::whisper {

/// Log-sum-exp of a row of logits, of the tokens that may follow (kNever: none) and of all tokens.
struct RuleMasses {
  float allowed = 0;
  float all = 0;
};

/// The rules of one transcription. They depend on nothing but the tokens of the hypothesis, so one
/// object serves all beams and windows.
class LogitRules {
 public:
  /// `positions`: encoder positions of a window; timestamps beyond them are never allowed.
  /// kInvalidArgument for a token outside the vocabulary or a suppress_regex that is no regular
  /// expression.
  static Result<LogitRules> create(const Model& model, const TranscribeOptions& options,
                                   int positions);

  /// Sets the logits [n_vocab] of tokens that may not follow `history` to kNever. `history`: tokens
  /// after the start-of-transcript sequence, of which the first `given` were not chosen by the
  /// model.
  ///
  /// The order is that of faster-whisper: repetition penalty, repeated n-grams, lists, timestamps.
  /// Timestamp rules are those of openai/whisper: the first token is a timestamp of at most
  /// max_initial_timestamp; timestamps come in pairs except before the end; they do not decrease
  /// and a segment is not empty; and when all timestamps together are likelier than the likeliest
  /// text token, a timestamp is chosen.
  RuleMasses apply(std::span<const int> history, size_t given, std::span<float> logits) const;

  /// Whether apply() also changes logits of tokens that stay allowed (the repetition penalty);
  /// RuleMasses::all then is that of the changed logits.
  [[nodiscard]] bool changes_allowed() const { return repetition_penalty_ != 1.0f; }

 private:
  LogitRules() = default;
  Status add_suppressed(const Model& model, const TranscribeOptions& options);
  Status add_matching(const Model& model, const std::string& regex);
  void penalise_repetition(std::span<const int> history, std::span<float> logits) const;
  void forbid_repeated_ngrams(std::span<const int> history, TokenMask& mask) const;
  void forbid_by_timestamps(std::span<const int> history, TokenMask& mask) const;

  std::vector<int> suppressed_;  ///< At every step, sorted
  std::vector<int> suppressed_at_begin_;
  int n_vocab_ = 0;
  int eot_ = 0;
  int timestamp_begin_ = 0;
  int timestamp_last_ = 0;
  int initial_timestamp_last_ = 0;  ///< Largest timestamp allowed as first token
  bool timestamps_ = true;
  float repetition_penalty_ = 1;
  size_t ngram_size_ = 0;
};

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_RULES_H_
