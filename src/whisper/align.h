// When each token of a window was spoken, read off the decoder's cross-attention.
#ifndef SOTTO_WHISPER_ALIGN_H_
#define SOTTO_WHISPER_ALIGN_H_

#include <span>
#include <string>
#include <vector>

#include "sotto/status.h"
#include "sotto/transcribe.h"
#include "whisper/model.h"

namespace sotto::whisper {

/// Times and probabilities of n text tokens.
struct TokenAlignment {
  std::vector<double>
      borders;  ///< [n + 1] seconds from the window's start: token i lasts borders[i]..[i + 1]
  std::vector<float> probabilities;  ///< [n], among text tokens
};

/// Runs the decoder once over `text` (text tokens only, not empty) and aligns it with the first
/// `frames` mel frames of the window by dynamic time warping over the model's alignment heads, as
/// openai/whisper's timing.py does. Forgets what the decoder held. `frames` >= 2.
Result<TokenAlignment> align_tokens(const Model& model, Decoder& decoder,
                                    const EncodedWindow& window, const std::string& language,
                                    Task task, std::span<const int> text, int positions,
                                    int64_t frames);

/// The matrix that the path is searched in. attention [heads, rows, positions] of probabilities ->
/// [rows, cols]: the first `cols` positions are kept, each head is made comparable (per column:
/// mean 0, deviation 1 over the rows), smoothed over time by a median of 7, and the heads are
/// averaged.
std::vector<float> alignment_weights(std::span<const float> attention, int rows, int positions,
                                     int cols);

/// Median of `width` (odd) neighbours, mirrored at the ends; rows of at most width / 2 entries stay
/// as they are.
void median_filter(std::span<float> row, int width);

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_ALIGN_H_
