#include "whisper/loops.h"

namespace sotto::whisper {
namespace {

constexpr size_t kFewestRepetitions = 4;
constexpr size_t kFewestTokens = 20;

}  // namespace

std::optional<Loop> find_loop(std::span<const int> tokens) {
  std::optional<Loop> longest;
  for (size_t period = 1; period * kFewestRepetitions <= tokens.size(); ++period) {
    size_t equal = 0;  // tokens in a row that are the same as one period before
    for (size_t i = period; i < tokens.size(); ++i) {
      equal = tokens[i] == tokens[i - period] ? equal + 1 : 0;
      const Loop loop = {i + 1 - equal - period, period, equal / period + 1};
      if (loop.count < kFewestRepetitions || loop.length() < kFewestTokens) continue;
      if (!longest || loop.length() > longest->length() + period) longest = loop;
    }
  }
  return longest;
}

}  // namespace sotto::whisper
