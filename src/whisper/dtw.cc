#include "whisper/dtw.h"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace sotto::whisper {
namespace {

enum class Move : uint8_t { kBoth, kRow, kColumn };

/// The moves of the cheapest paths: cell (i, j) of [rows, cols] was entered by moves[i * cols + j].
std::vector<Move> cheapest_moves(std::span<const float> weights, size_t rows, size_t cols) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<Move> moves(rows * cols);
  // Costs of the row above and of this row, with a border column before the first.
  std::vector<float> above(cols + 1, kInfinity);
  std::vector<float> here(cols + 1, kInfinity);
  above[0] = 0;
  for (size_t i = 0; i < rows; ++i) {
    here[0] = kInfinity;
    for (size_t j = 0; j < cols; ++j) {
      const float both = above[j];
      const float row = above[j + 1];
      const float column = here[j];
      Move move = Move::kColumn;
      float cost = column;
      if (both < row && both < column) {
        move = Move::kBoth;
        cost = both;
      } else if (row < both && row < column) {
        move = Move::kRow;
        cost = row;
      }
      here[j + 1] = cost - weights[i * cols + j];
      moves[i * cols + j] = move;
    }
    above.swap(here);
  }
  return moves;
}

}  // namespace

std::vector<int> enter_columns(std::span<const float> weights, int rows, int cols) {
  const auto width = static_cast<size_t>(cols);
  const std::vector<Move> moves = cheapest_moves(weights, static_cast<size_t>(rows), width);
  std::vector<int> enters(static_cast<size_t>(rows), 0);
  auto i = static_cast<size_t>(rows) - 1;
  size_t j = width - 1;
  while (true) {
    enters[i] = static_cast<int>(j);
    // On the borders only one move is left.
    const Move move = i == 0 ? Move::kColumn : j == 0 ? Move::kRow : moves[i * width + j];
    if (i == 0 && j == 0) break;
    if (move != Move::kColumn) --i;
    if (move != Move::kRow) --j;
  }
  return enters;
}

}  // namespace sotto::whisper
