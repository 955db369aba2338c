#include "whisper/loops.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace sotto::whisper {
namespace {

std::vector<int> repeat(const std::vector<int>& part, size_t count) {
  std::vector<int> tokens;
  for (size_t i = 0; i < count; ++i)
    tokens.insert(tokens.end(), part.begin(), part.end());
  return tokens;
}

TEST(FindLoop, FindsTheRunAndItsShortestPeriod) {
  std::vector<int> tokens = {90, 91, 92};
  const std::vector<int> run = repeat({1, 2, 3, 4, 5}, 6);
  tokens.insert(tokens.end(), run.begin(), run.end());
  tokens.insert(tokens.end(), {80, 81});
  const auto loop = find_loop(tokens);
  ASSERT_TRUE(loop.has_value());
  EXPECT_EQ(loop->begin, 3u);
  EXPECT_EQ(loop->period, 5u);
  EXPECT_EQ(loop->count, 6u);
}

TEST(FindLoop, OneTokenForEver) {
  const auto loop = find_loop(std::vector<int>(200, 7));
  ASSERT_TRUE(loop.has_value());
  EXPECT_EQ(loop->period, 1u);
  EXPECT_EQ(loop->count, 200u);
}

TEST(FindLoop, WhatPeopleRepeatIsNone) {
  EXPECT_FALSE(find_loop(repeat({1}, 12)).has_value()) << "six six six six";
  EXPECT_FALSE(find_loop(repeat({1, 2}, 9)).has_value());
  EXPECT_FALSE(find_loop(repeat({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 3)).has_value())
      << "a refrain";
  EXPECT_FALSE(find_loop({}).has_value());
}

TEST(FindLoop, IsWhatItSays) {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    std::vector<int> tokens(60);
    const int words = 1 + static_cast<int>(random() % 3);
    for (int& token : tokens)
      token = static_cast<int>(random() % static_cast<unsigned>(words));
    const auto loop = find_loop(tokens);
    if (!loop) continue;
    ASSERT_LE(loop->begin + loop->length(), tokens.size());
    ASSERT_GE(loop->count, 4u);
    for (size_t i = loop->begin + loop->period; i < loop->begin + loop->length(); ++i)
      ASSERT_EQ(tokens[i], tokens[i - loop->period]);
  }
}

}  // namespace
}  // namespace sotto::whisper
