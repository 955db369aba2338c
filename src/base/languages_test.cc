#include "base/languages.h"

#include <gtest/gtest.h>

#include <set>

namespace sotto {
namespace {

TEST(LanguageCode, TakesCodesNamesAliasesAndLocales) {
  EXPECT_EQ(language_code("en"), "en");
  EXPECT_EQ(language_code("EN"), "en");
  EXPECT_EQ(language_code("German"), "de");
  EXPECT_EQ(language_code("castilian"), "es");
  EXPECT_EQ(language_code("Mandarin"), "zh");
  EXPECT_EQ(language_code("en-US"), "en");
  EXPECT_EQ(language_code("pt_BR.UTF-8"), "pt");
  EXPECT_EQ(language_code("zh-Hans-CN"), "zh");
  EXPECT_EQ(language_code("Haitian Creole"), "ht");
  EXPECT_EQ(language_code("haw"), "haw");
  EXPECT_EQ(language_code("nb-NO"), "no");
  for (const char* unknown : {"", "auto", "xx", "klingon", "-", "e", "englis"}) {
    EXPECT_EQ(language_code(unknown), "") << unknown;
  }
}

TEST(LanguageName, OfACode) {
  EXPECT_EQ(language_name("en"), "english");
  EXPECT_EQ(language_name("yue"), "cantonese");
  EXPECT_EQ(language_name("xx"), "xx");
}

TEST(Languages, CodesAndNamesAreUnique) {
  std::set<std::string_view> codes;
  std::set<std::string_view> names;
  for (const Language& language : languages()) {
    codes.insert(language.code);
    names.insert(language.name);
  }
  EXPECT_EQ(codes.size(), 100U);
  EXPECT_EQ(names.size(), 100U);
}

}  // namespace
}  // namespace sotto
