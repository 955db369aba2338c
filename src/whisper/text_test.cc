#include "whisper/text.h"

#include <gtest/gtest.h>

#include <string>

namespace sotto::whisper {
namespace {

TEST(Trimmed, RemovesUnicodeSpaceAtBothEndsOnly) {
  EXPECT_EQ(trimmed("  hello  world \n"), "hello  world");
  EXPECT_EQ(trimmed("\xE3\x80\x80\xE4\xBD\xA0\xE3\x80\x80"),
            "\xE4\xBD\xA0");  // U+3000 around a character
  EXPECT_EQ(trimmed("\xC2\xA0x\xC2\xA0"), "x");
  EXPECT_EQ(trimmed(" \t\r\n"), "");
  EXPECT_EQ(trimmed(""), "");
  EXPECT_EQ(trimmed(" \xE4\xBD "), "\xE4\xBD");  // Broken bytes are not space
}

TEST(CompressionRatio, IsHighForRepetitiveText) {
  // Values of Python's len(t) / len(zlib.compress(t)).
  EXPECT_EQ(compression_ratio(""), 0);
  EXPECT_NEAR(
      compression_ratio("And so my fellow Americans ask not what your country can do for you"),
      67.0 / 66, 1e-9);
  std::string repeated;
  for (int i = 0; i < 20; ++i)
    repeated += "again and ";
  EXPECT_NEAR(compression_ratio(repeated), 200.0 / 21, 1e-9);
}

}  // namespace
}  // namespace sotto::whisper
