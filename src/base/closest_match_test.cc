#include "base/closest_match.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sotto {
namespace {

TEST(EditDistance, CountsInsertDeleteReplaceAndSwap) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("pull", "pull"), 0);
  EXPECT_EQ(edit_distance("pul", "pull"), 1);
  EXPECT_EQ(edit_distance("pulll", "pull"), 1);
  EXPECT_EQ(edit_distance("pall", "pull"), 1);
  EXPECT_EQ(edit_distance("plul", "pull"), 1);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(ClosestMatch, FindsWhatWasMeant) {
  const std::vector<std::string> names = {"pull", "list", "show", "remove", "transcribe"};
  EXPECT_EQ(closest_match("pul", names), "pull");
  EXPECT_EQ(closest_match("lsit", names), "list");
  EXPECT_EQ(closest_match("trnascribe", names), "transcribe");
  EXPECT_EQ(closest_match("transcribes", names), "transcribe");
}

TEST(ClosestMatch, StaysSilentWhenNothingIsNear) {
  const std::vector<std::string> names = {"pull", "list"};
  EXPECT_EQ(closest_match("dictate", names), "");
  EXPECT_EQ(closest_match("", names), "");
  EXPECT_EQ(closest_match(std::string(100000, 'p'), names), "");
  EXPECT_EQ(closest_match("pull", {}), "");
}

}  // namespace
}  // namespace sotto
