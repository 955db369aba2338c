#include "base/json.h"

#include <gtest/gtest.h>

#include <string>

namespace sotto {
namespace {

TEST(Json, ParsesAndFindsMembers) {
  const auto value = parse_json(R"({"name": "x", "list": [1, {"[": "\"]"}]})", "text");
  ASSERT_TRUE(value.ok());
  ASSERT_NE(json_string(*value, "name"), nullptr);
  EXPECT_EQ(*json_string(*value, "name"), "x");
  EXPECT_EQ(json_string(*value, "list"), nullptr);
  EXPECT_NE(json_member(*value, "list"), nullptr);
  EXPECT_EQ(json_member(*value, "absent"), nullptr);
  EXPECT_EQ(json_member((*value)["list"], "name"), nullptr);
}

TEST(Json, BrokenTextIsCorrupt) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":1} x", "\"\xFF\"", "nul", "{\"a\" 1}"}) {
    const auto value = parse_json(text, "config.json");
    EXPECT_EQ(value.status().code(), StatusCode::kCorrupt) << text;
    EXPECT_EQ(value.status().message(), "config.json is not valid JSON") << text;
  }
}

TEST(Json, DepthIsLimitedButBracketsInStringsAreNot) {
  const auto nested = [](int depth) {
    const auto n = static_cast<size_t>(depth);
    return std::string(n, '[') + std::string(n, ']');
  };
  EXPECT_TRUE(parse_json(nested(kMaxJsonDepth), "text").ok());
  EXPECT_EQ(parse_json(nested(kMaxJsonDepth + 1), "text").status().code(), StatusCode::kCorrupt);
  EXPECT_FALSE(parse_json(std::string(5'000'000, '['), "text").ok());
  EXPECT_TRUE(parse_json("\"" + std::string(1000, '[') + "\\\"[\"", "text").ok());
}

}  // namespace
}  // namespace sotto
