#include "base/closest_match.h"

#include <algorithm>
#include <vector>

namespace sotto {

int edit_distance(std::string_view a, std::string_view b) {
  const size_t columns = b.size() + 1;
  std::vector<int> before_last(columns), last(columns), current(columns);
  for (size_t j = 0; j < columns; ++j)
    last[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = static_cast<int>(i);
    for (size_t j = 1; j < columns; ++j) {
      const int replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, current);
  }
  return last[b.size()];
}

std::string closest_match(std::string_view typed, std::span<const std::string> candidates) {
  constexpr size_t kLongestName = 64;
  if (typed.size() > kLongestName) return "";
  std::string best;
  int best_distance = 0;
  for (const std::string& candidate : candidates) {
    const int distance = edit_distance(typed, candidate);
    const int allowed = static_cast<int>(std::max(typed.size(), candidate.size()) + 2) / 3;
    if (distance > allowed || (!best.empty() && distance >= best_distance)) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

}  // namespace sotto
