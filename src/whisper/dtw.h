// Dynamic time warping of text against time.
#ifndef SOTTO_WHISPER_DTW_H_
#define SOTTO_WHISPER_DTW_H_

#include <span>
#include <vector>

namespace sotto::whisper {

/// `weights` [rows, cols]: how well row (token) and column (time) belong together. Finds the
/// monotone path from the first cell to the last that gathers the most weight, moving by one row,
/// one column or both, and returns for every row the column at which the path enters it. rows and
/// cols must be above 0.
std::vector<int> enter_columns(std::span<const float> weights, int rows, int cols);

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_DTW_H_
