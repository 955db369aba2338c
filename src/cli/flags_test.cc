#include "cli/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sotto::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Flags : public ::testing::Test {
 protected:
  Status parse(const std::vector<std::string>& arguments) {
    const std::vector<FlagSection> sections = {
        {"First",
         {{"-otxt --output-txt", "", "write a text file", turn(text, true)},
          {"-bs --beam-size", "N", "beams", store(beams, 1, 64, 1)},
          {"-tp --temperature", "X", "temperature", store(temperature, 0, 10)},
          {"--limit", "X", "a limit or None", store(limit, -5, 5)},
          {"--fp16", "BOOL", "half precision", store(fp16)},
          {"-m --model", "NAME", "model", store(model)},
          {"-of", "NAME", "name", append(names)}}}};
    return parse_flags(arguments, sections, rest);
  }

  bool text = false, fp16 = false;
  int beams = 5;
  float temperature = 0;
  std::optional<float> limit = 1.0f;
  std::string model;
  std::vector<std::string> names, rest;
};

TEST_F(Flags, ReadsLettersOfOneDashAsOneFlag) {
  ASSERT_TRUE(parse({"a.wav", "-otxt", "-bs", "3", "b.wav"}).ok());
  EXPECT_TRUE(text);
  EXPECT_EQ(beams, 3);
  EXPECT_THAT(rest, ElementsAre("a.wav", "b.wav"));
}

TEST_F(Flags, TreatsUnderscoreAndEqualsAsTheLongSpelling) {
  ASSERT_TRUE(parse({"--beam_size", "2", "--temperature=0.5", "--model=a=b"}).ok());
  EXPECT_EQ(beams, 2);
  EXPECT_FLOAT_EQ(temperature, 0.5f);
  EXPECT_EQ(model, "a=b");
}

TEST_F(Flags, TakesValuesThatLookLikeFlags) {
  ASSERT_TRUE(parse({"-m", "-otxt", "--limit", "-1.5", "-of", "-", "-of", "--x"}).ok());
  EXPECT_EQ(model, "-otxt");
  EXPECT_FALSE(text);
  EXPECT_EQ(limit, -1.5f);
  EXPECT_THAT(names, ElementsAre("-", "--x"));
}

TEST_F(Flags, TakesABooleanWordOnlyWhereItIsOne) {
  ASSERT_TRUE(parse({"--fp16", "a.wav"}).ok());
  EXPECT_TRUE(fp16);
  ASSERT_TRUE(parse({"--fp16", "FALSE", "b.wav"}).ok());
  EXPECT_FALSE(fp16);
  EXPECT_THAT(rest, ElementsAre("a.wav", "b.wav"));
  EXPECT_THAT(parse({"--fp16=maybe"}).message(), HasSubstr("True or False"));
}

TEST_F(Flags, TakesNoneWhereItHasAMeaning) {
  ASSERT_TRUE(parse({"--limit", "None", "--beam-size", "None"}).ok());
  EXPECT_FALSE(limit.has_value());
  EXPECT_EQ(beams, 1);
  EXPECT_FALSE(parse({"--temperature", "None"}).ok());
}

TEST_F(Flags, LeavesEverythingAfterTwoDashes) {
  ASSERT_TRUE(parse({"-", "--", "-otxt", "--"}).ok());
  EXPECT_THAT(rest, ElementsAre("-", "-otxt", "--"));
  EXPECT_FALSE(text);
}

TEST_F(Flags, RefusesNumbersThatAreNotWholeTexts) {
  for (const std::string value : {"", "x", "3x", "3.5", "0", "65", "99999999999", " 3"}) {
    const Status status = parse({"-bs", value});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << value;
    EXPECT_THAT(status.message(), HasSubstr("-bs takes a whole number from 1 to 64"));
  }
  for (const std::string value : {"", "x", "1,5", "nan", "inf", "11", "-0.1", "1e999"}) {
    EXPECT_FALSE(parse({"-tp", value}).ok()) << value;
  }
  EXPECT_EQ(beams, 5);
}

TEST_F(Flags, NamesTheNearestFlag) {
  EXPECT_THAT(parse({"--beam-sise", "3"}).message(), HasSubstr("did you mean --beam-size?"));
  EXPECT_THAT(parse({"--out_put-txt"}).message(), HasSubstr("did you mean --output-txt?"));
  EXPECT_THAT(parse({"-otx"}).message(), HasSubstr("did you mean -otxt?"));
  EXPECT_THAT(parse({"--qwertyuiop"}).message(), Not(HasSubstr("did you mean")));
}

TEST_F(Flags, SaysWhatIsMissingOrTooMuch) {
  EXPECT_THAT(parse({"-bs"}).message(), HasSubstr("-bs needs a value (N)"));
  EXPECT_THAT(parse({"--output-txt=1"}).message(), HasSubstr("takes no value"));
  EXPECT_THAT(rest, IsEmpty());
}

TEST(FormatHelp, WrapsAndHidesUnlistedFlags) {
  bool unused = false;
  const std::vector<FlagSection> sections = {
      {"Shown",
       {{"-a --all", "", "one two three four five six seven eight nine", turn(unused, true)},
        {"--only-long", "N", "text", turn(unused, true)},
        {"-x", "", "", turn(unused, true)}}},
      {"", {{"--hidden", "", "hidden", turn(unused, true)}}}};
  const std::string help = format_help(sections, 60);
  EXPECT_THAT(help, HasSubstr("Shown:\n  -a, --all"));
  EXPECT_THAT(help, HasSubstr("      --only-long N"));
  EXPECT_THAT(help, Not(HasSubstr("-x")));
  EXPECT_THAT(help, Not(HasSubstr("hidden")));
  size_t start = 0;
  for (size_t end = help.find('\n'); end != std::string::npos;
       start = end + 1, end = help.find('\n', start)) {
    EXPECT_LE(end - start, 60u) << help.substr(start, end - start);
  }
}

}  // namespace
}  // namespace sotto::cli
