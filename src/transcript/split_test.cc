#include "transcript/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace sotto::transcript {
namespace {

using ::testing::ElementsAre;

Token token(std::string text) {
  Token result;
  result.text = std::move(text);
  return result;
}

/// " Hello there, Zoë." with a token that ends inside a character.
Segment make_segment() {
  Segment segment;
  segment.id = 3;
  segment.start = 1;
  segment.end = 4;
  segment.temperature = 0.2f;
  segment.text = " Hello there, Zo\xC3\xAB.";
  segment.words = {
      {" Hello", 1, 1.5, 0.9f}, {" there,", 1.6, 2, 0.8f}, {" Zo\xC3\xAB.", 3, 3.9, 0.7f}};
  segment.tokens = {token("[_TT_0]"), token(" Hello"), token(" there"), token(","),
                    token(" Zo\xC3"), token("\xAB"),   token("."),      token("[_TT_150]")};
  return segment;
}

std::vector<std::string> texts(const std::vector<Segment>& pieces) {
  std::vector<std::string> list;
  for (const Segment& piece : pieces)
    list.push_back(piece.text);
  return list;
}

std::string tokens_of(const Segment& piece) {
  std::string text;
  for (const Token& one : piece.tokens)
    text += one.text;
  return text;
}

TEST(SplitSegment, FillsPiecesUpToTheLimit) {
  const std::vector<Segment> pieces = split_segment(make_segment(), 12);
  EXPECT_THAT(texts(pieces), ElementsAre(" Hello there,", " Zo\xC3\xAB."));
  EXPECT_DOUBLE_EQ(pieces[0].start, 1);
  EXPECT_DOUBLE_EQ(pieces[0].end, 2);
  EXPECT_DOUBLE_EQ(pieces[1].start, 3);
  EXPECT_DOUBLE_EQ(pieces[1].end, 3.9);
  EXPECT_EQ(pieces[1].words.size(), 1u);
  EXPECT_EQ(pieces[1].temperature, 0.2f);
}

TEST(SplitSegment, GivesEachPieceItsTokens) {
  const std::vector<Segment> pieces = split_segment(make_segment(), 1);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(tokens_of(pieces[0]), "[_TT_0] Hello");
  EXPECT_EQ(tokens_of(pieces[1]), " there,");
  EXPECT_EQ(tokens_of(pieces[2]), " Zo\xC3\xAB.[_TT_150]");
}

TEST(SplitSegment, CountsCharacters) {
  EXPECT_EQ(split_segment(make_segment(), 17).size(), 1u);  // 18 bytes
  EXPECT_EQ(split_segment(make_segment(), 16).size(), 2u);
}

TEST(SplitSegment, LeavesWholeWhatHasNoWords) {
  Segment segment = make_segment();
  EXPECT_EQ(split_segment(segment, 0).size(), 1u);
  segment.words.clear();
  EXPECT_THAT(texts(split_segment(segment, 1)), ElementsAre(segment.text));
}

}  // namespace
}  // namespace sotto::transcript
