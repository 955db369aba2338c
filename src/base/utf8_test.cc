#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace sotto {
namespace {

const std::string kReplacement = "\xEF\xBF\xBD";

TEST(Utf8, EveryScalarValueRoundTrips) {
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    std::string text;
    utf8_append(code, text);
    const Utf8Char c = utf8_decode(text, 0);
    ASSERT_TRUE(c.valid) << std::hex << static_cast<uint32_t>(code);
    ASSERT_EQ(c.code, code);
    ASSERT_EQ(c.length, text.size());
  }
}

TEST(Utf8, AppendReplacesWhatIsNoScalarValue) {
  for (const char32_t code : {0xD800U, 0xDFFFU, 0x110000U, 0xFFFFFFFFU}) {
    std::string text;
    utf8_append(code, text);
    EXPECT_EQ(text, kReplacement);
  }
}

// Expected values: Python's bytes.decode("utf-8", "replace").
TEST(Utf8, RepairsBrokenSequencesByMaximalSubparts) {
  EXPECT_EQ(utf8_repair("a\x80z"), "a" + kReplacement + "z");
  EXPECT_EQ(utf8_repair("\xC0\xAF"), kReplacement + kReplacement);  // overlong
  EXPECT_EQ(utf8_repair("\xE2\x82"), kReplacement);                 // cut
  EXPECT_EQ(utf8_repair("\xE2\x82z"), kReplacement + "z");
  EXPECT_EQ(utf8_repair("\xED\xA0\x80"), kReplacement + kReplacement + kReplacement);  // surrogate
  EXPECT_EQ(utf8_repair("\xF4\x90\x80\x80"),
            kReplacement + kReplacement + kReplacement + kReplacement);  // above U+10FFFF
  EXPECT_EQ(utf8_repair("\xF0\x9F\x98"), kReplacement);
  EXPECT_EQ(utf8_repair("żółw 🐢"), "żółw 🐢");
}

TEST(Utf8, ValidAndLength) {
  EXPECT_TRUE(utf8_valid(""));
  EXPECT_TRUE(utf8_valid("日本語🎉"));
  EXPECT_FALSE(utf8_valid("\xFF"));
  EXPECT_EQ(utf8_length("日本語🎉a"), 5U);
  EXPECT_EQ(utf8_length("\xE2\x82z"), 2U);
}

TEST(Utf8, CompletePrefixStopsBeforeAnUnfinishedCharacterOnly) {
  EXPECT_EQ(utf8_complete_prefix(""), 0U);
  EXPECT_EQ(utf8_complete_prefix("ab"), 2U);
  EXPECT_EQ(utf8_complete_prefix("a\xE6\x97\xA5"), 4U);
  EXPECT_EQ(utf8_complete_prefix("a\xE6\x97"), 1U);
  EXPECT_EQ(utf8_complete_prefix("a\xF0\x9F\x98"), 1U);
  EXPECT_EQ(utf8_complete_prefix("a\xF0"), 1U);
  EXPECT_EQ(utf8_complete_prefix("a\x80\x80\x80\x80"),
            5U);                                     // stray continuations will never be completed
  EXPECT_EQ(utf8_complete_prefix("a\xED\xA0"), 3U);  // nor will a surrogate
}

TEST(Utf8Stream, BytewiseFeedGivesTheSameTextWithoutReplacements) {
  const std::string text = "Ünïcode: 日本語, emoji 👩‍🚀🎉, العربية.";
  Utf8Stream stream;
  std::string joined;
  for (const char c : text) {
    const std::string piece = stream.feed(std::string_view(&c, 1));
    EXPECT_TRUE(utf8_valid(piece));
    joined += piece;
  }
  EXPECT_EQ(joined, text);
  EXPECT_EQ(stream.flush(), "");
}

TEST(Utf8Stream, BrokenBytesDoNotBlockWhatFollows) {
  Utf8Stream stream;
  EXPECT_EQ(stream.feed("a\xE6\x97"), "a");
  EXPECT_EQ(stream.feed("b"), kReplacement + "b");
  EXPECT_EQ(stream.feed("\xF0\x9F"), "");
  EXPECT_EQ(stream.flush(), kReplacement);
  EXPECT_EQ(stream.flush(), "");
}

}  // namespace
}  // namespace sotto
