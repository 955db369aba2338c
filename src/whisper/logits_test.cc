#include "whisper/logits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace sotto::whisper {
namespace {

std::vector<float> random_row(size_t size, unsigned seed, float spread) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> row(size);
  for (float& x : row)
    x = normal(random);
  return row;
}

double exact_log_sum_exp(const std::vector<float>& row) {
  const double top = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (const float x : row)
    sum += std::exp(x - top);
  return top + std::log(sum);
}

TEST(LogSumExp, MatchesDoublePrecision) {
  for (const size_t size : {1u, 2u, 15u, 16u, 17u, 1000u, 51865u}) {
    for (const float spread : {0.01f, 1.0f, 10.0f, 100.0f}) {
      std::vector<float> row = random_row(size, static_cast<unsigned>(size), spread);
      EXPECT_NEAR(log_sum_exp(row), exact_log_sum_exp(row),
                  1e-6 * std::max(1.0, std::abs(exact_log_sum_exp(row))));
      if (size > 3) {
        for (size_t i = 0; i < size; i += 3)
          row[i] = kNever;
        EXPECT_NEAR(log_sum_exp(row), exact_log_sum_exp(row),
                    1e-6 * std::max(1.0, std::abs(exact_log_sum_exp(row))));
      }
    }
  }
}

TEST(LogSumExp, HandlesNothingAndNaN) {
  EXPECT_EQ(log_sum_exp({}), kNever);
  EXPECT_EQ(log_sum_exp(std::vector<float>(40, kNever)), kNever);
  std::vector<float> row(40, 0.0f);
  row[33] = std::nanf("");
  EXPECT_TRUE(std::isnan(log_sum_exp(row)));
}

TEST(LogAdd, AddsProbabilities) {
  EXPECT_NEAR(log_add(std::log(0.25f), std::log(0.5f)), std::log(0.75f), 1e-6);
  EXPECT_EQ(log_add(kNever, 3.0f), 3.0f);
  EXPECT_EQ(log_add(3.0f, kNever), 3.0f);
  EXPECT_EQ(log_add(kNever, kNever), kNever);
  EXPECT_TRUE(std::isnan(log_add(std::nanf(""), 3.0f)));
  EXPECT_TRUE(std::isnan(log_add(3.0f, std::nanf(""))));
}

TEST(BestToken, TakesTheFirstOfEquals) {
  EXPECT_EQ(best_token(std::vector<float>{1, 3, 3, 2}).id, 1);
  EXPECT_EQ(best_token(std::vector<float>{kNever, kNever}).id, -1);
}

TEST(TopTokens, EqualsAFullSort) {
  for (const int count : {1, 2, 6, 100}) {
    std::vector<float> row = random_row(4001, static_cast<unsigned>(count), 3.0f);
    for (size_t i = 0; i < row.size(); i += 5)
      row[i] = std::round(row[i]);  // Equal values
    for (size_t i = 0; i < row.size(); i += 7)
      row[i] = kNever;
    std::vector<int> order(row.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return row[static_cast<size_t>(a)] > row[static_cast<size_t>(b)];
    });
    std::vector<ScoredToken> top;
    top_tokens(row, count, top);
    ASSERT_EQ(top.size(), static_cast<size_t>(count));
    for (size_t i = 0; i < top.size(); ++i) {
      EXPECT_EQ(top[i].id, order[i]);
      EXPECT_EQ(top[i].value, row[static_cast<size_t>(order[i])]);
    }
  }
}

TEST(TopTokens, LeavesOutWhatIsForbidden) {
  std::vector<ScoredToken> top;
  top_tokens(std::vector<float>{kNever, 2, kNever, 1}, 6, top);
  ASSERT_EQ(top.size(), 2u);
  EXPECT_EQ(top[0].id, 1);
  EXPECT_EQ(top[1].id, 3);
}

TEST(SampleToken, FollowsTheDistribution) {
  const std::vector<float> row = {std::log(0.5f), kNever, std::log(0.3f), std::log(0.2f)};
  EXPECT_EQ(sample_token(row, 1.0f, 0.0), 0);
  EXPECT_EQ(sample_token(row, 1.0f, 0.499), 0);
  EXPECT_EQ(sample_token(row, 1.0f, 0.501), 2);
  EXPECT_EQ(sample_token(row, 1.0f, 0.799), 2);
  EXPECT_EQ(sample_token(row, 1.0f, 0.801), 3);
  EXPECT_EQ(sample_token(row, 1.0f, 0.9999999999), 3);
  // Half the temperature squares the odds: 25 : 9 : 4.
  EXPECT_EQ(sample_token(row, 0.5f, 24.9 / 38), 0);
  EXPECT_EQ(sample_token(row, 0.5f, 25.1 / 38), 2);
  EXPECT_EQ(sample_token(row, 0.5f, 34.1 / 38), 3);
  EXPECT_EQ(sample_token(std::vector<float>{kNever}, 1.0f, 0.5), -1);
}

}  // namespace
}  // namespace sotto::whisper
