// Text that goes round in circles.
#ifndef SOTTO_WHISPER_LOOPS_H_
#define SOTTO_WHISPER_LOOPS_H_

#include <cstddef>
#include <optional>
#include <span>

namespace sotto::whisper {

/// tokens[begin, begin + period) stands `count` times in a row.
struct Loop {
  size_t begin = 0;
  size_t period = 0;
  size_t count = 0;

  [[nodiscard]] size_t length() const { return period * count; }
};

/// The longest run of repetitions that is longer than people speak: at least four times the same,
/// at least 20 tokens in all. Of several descriptions of a run the shortest period is given.
std::optional<Loop> find_loop(std::span<const int> tokens);

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_LOOPS_H_
