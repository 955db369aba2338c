#include "tokenizer/pre_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace sotto::tokenizer {
namespace {

using testing::ElementsAre;

std::vector<std::string> pieces(std::string_view text) {
  std::vector<std::string> out;
  for (size_t i = 0; i < text.size(); i += out.back().size()) {
    out.emplace_back(text.substr(i, next_gpt2_piece(text, i)));
  }
  return out;
}

TEST(CharClass, FollowsUnicodeCategories) {
  for (const char32_t letter : {U'a', U'Z', U'é', U'ß', U'日', U'я', U'\u0E01', U'\U00020000'}) {
    EXPECT_EQ(char_class(letter), CharClass::kLetter) << static_cast<uint32_t>(letter);
  }
  for (const char32_t number : {U'0', U'9', U'½', U'²', U'Ⅷ', U'٣', U'\u3007'}) {
    EXPECT_EQ(char_class(number), CharClass::kNumber) << static_cast<uint32_t>(number);
  }
  for (const char32_t space : {U' ', U'\t', U'\r', U'\u0085', U'\u00A0', U'\u2003', U'\u3000'}) {
    EXPECT_EQ(char_class(space), CharClass::kSpace) << static_cast<uint32_t>(space);
  }
  // U+001C..1F are white space to some languages, U+200B and U+FEFF look like it: none has the
  // property.
  for (const char32_t other :
       {U'!', U'_', U'♪', U'\u001C', U'\u200B', U'\uFEFF', U'\u0301', U'🎉'}) {
    EXPECT_EQ(char_class(other), CharClass::kOther) << static_cast<uint32_t>(other);
  }
}

TEST(Gpt2Pieces, WordsTakeOneLeadingSpace) {
  EXPECT_THAT(pieces("Hello world, 42nd"), ElementsAre("Hello", " world", ",", " 42", "nd"));
  EXPECT_THAT(pieces("a1!b"), ElementsAre("a", "1", "!", "b"));
}

TEST(Gpt2Pieces, ContractionsAreLowerCaseAndComeFirst) {
  EXPECT_THAT(pieces("I'm we'll they've it's"),
              ElementsAre("I", "'m", " we", "'ll", " they", "'ve", " it", "'s"));
  EXPECT_THAT(pieces("IT'S"), ElementsAre("IT", "'", "S"));
  EXPECT_THAT(pieces(" 's"), ElementsAre(" '", "s"));
  EXPECT_THAT(pieces("''s"), ElementsAre("''", "s"));
  EXPECT_THAT(pieces("'same"), ElementsAre("'s", "ame"));
}

TEST(Gpt2Pieces, WhiteSpaceLeavesItsLastCharacterToTheNextWord) {
  EXPECT_THAT(pieces("a   b"), ElementsAre("a", "  ", " b"));
  EXPECT_THAT(pieces("a\n\nb"), ElementsAre("a", "\n", "\n", "b"));
  EXPECT_THAT(pieces("a \n"), ElementsAre("a", " \n"));
  EXPECT_THAT(pieces(" "), ElementsAre(" "));
  EXPECT_THAT(pieces("x\u00A0y"), ElementsAre("x", "\u00A0", "y"));
}

TEST(Gpt2Pieces, BrokenUtf8IsPunctuation) {
  EXPECT_THAT(pieces("a\xFF\xFE!b"), ElementsAre("a", "\xFF\xFE!", "b"));
  EXPECT_THAT(pieces("\xE6\x97"), ElementsAre("\xE6\x97"));
}

}  // namespace
}  // namespace sotto::tokenizer
