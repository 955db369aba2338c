#include "whisper/dtw.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

namespace sotto::whisper {
namespace {

/// The best path by trying all of them.
std::vector<int> exhaustive(const std::vector<float>& weights, int rows, int cols) {
  std::vector<int> best;
  double best_weight = -1e9;
  std::vector<int> enters(static_cast<size_t>(rows), 0);
  const std::function<void(int, int, double)> walk = [&](int i, int j, double weight) {
    weight += weights[static_cast<size_t>(i * cols + j)];
    if (i == rows - 1 && j == cols - 1) {
      if (weight > best_weight) {
        best_weight = weight;
        best = enters;
      }
      return;
    }
    if (j + 1 < cols) walk(i, j + 1, weight);
    if (i + 1 < rows) {
      for (const int k : {j, j + 1}) {
        if (k == cols) continue;
        enters[static_cast<size_t>(i) + 1] = k;
        walk(i + 1, k, weight);
      }
    }
  };
  walk(0, 0, 0);
  return best;
}

TEST(EnterColumns, FindsTheBestOfAllPaths) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (int round = 0; round < 200; ++round) {
    const int rows = 1 + static_cast<int>(random() % 5);
    const int cols = 1 + static_cast<int>(random() % 6);
    std::vector<float> weights(static_cast<size_t>(rows * cols));
    for (float& w : weights)
      w = normal(random);
    EXPECT_EQ(enter_columns(weights, rows, cols), exhaustive(weights, rows, cols))
        << rows << " x " << cols;
  }
}

TEST(EnterColumns, FollowsABand) {
  // Token i belongs to columns 10 i .. 10 i + 9.
  std::vector<float> weights(5 * 50, -0.5f);
  for (size_t i = 0; i < 5; ++i) {
    for (size_t j = 0; j < 10; ++j)
      weights[i * 50 + i * 10 + j] = 1.0f;
  }
  EXPECT_EQ(enter_columns(weights, 5, 50), (std::vector<int>{0, 10, 20, 30, 40}));
}

TEST(EnterColumns, MoreTokensThanTime) {
  const std::vector<int> enters = enter_columns(std::vector<float>(6 * 2, 0.5f), 6, 2);
  EXPECT_EQ(enters.front(), 0);
  EXPECT_LE(enters.back(), 1);
  EXPECT_TRUE(std::is_sorted(enters.begin(), enters.end()));
}

}  // namespace
}  // namespace sotto::whisper
