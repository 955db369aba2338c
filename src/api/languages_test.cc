#include <gtest/gtest.h>

#include "sotto/transcribe.h"

namespace sotto {
namespace {

TEST(ParseLanguage, TakesCodesNamesAndLocales) {
  for (const char* name : {"en", "EN", "english", "English", "en-US", "en_GB"}) {
    const Result<std::string> code = parse_language(name);
    ASSERT_TRUE(code.ok()) << name;
    EXPECT_EQ(*code, "en") << name;
  }
}

TEST(ParseLanguage, ListsTheLanguagesWhenUnknown) {
  for (const char* name : {"xx", "", "en; touch PWNED"}) {
    const Status status = parse_language(name).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << name;
    EXPECT_NE(status.message().find("de (german)"), std::string::npos);
  }
}

}  // namespace
}  // namespace sotto
