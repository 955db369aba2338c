// A decoded sequence and what the model thought of it.
#ifndef SOTTO_WHISPER_HYPOTHESIS_H_
#define SOTTO_WHISPER_HYPOTHESIS_H_

#include <cstddef>
#include <vector>

namespace sotto::whisper {

struct Hypothesis {
  std::vector<int> tokens;  ///< After the start-of-transcript sequence, a given prefix first,
                            ///< without end-of-text
  std::vector<float>
      logprobs;        ///< One a token, under the model's own distribution; 0 for a given token
  size_t given = 0;    ///< Tokens of the prefix
  double score = 0;    ///< Sum of the logprobs under the rules, that of end-of-text included
  bool ended = false;  ///< The model chose end-of-text; else the length limit ended it

  /// Tokens that the model chose.
  [[nodiscard]] size_t chosen() const { return tokens.size() - given; }
};

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_HYPOTHESIS_H_
