#include "whisper/words.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "whisper/testing/fake_model.h"

namespace sotto::whisper {
namespace {

using testing::FakeModel;

std::vector<std::string> texts(const std::vector<TimedWord>& words) {
  std::vector<std::string> result;
  for (const TimedWord& word : words)
    result.push_back(word.text);
  return result;
}

std::vector<TimedWord> timed(const std::vector<std::tuple<std::string, double, double>>& list) {
  std::vector<TimedWord> words;
  for (const auto& [text, start, end] : list)
    words.push_back({text, 1, start, end, 0.5f});
  return words;
}

using Texts = std::vector<std::string>;

TEST(GroupWords, SplitsAtSpacesAndPunctuation) {
  const FakeModel model({});
  const std::vector<int> ids = {
      model.word(" hello"), model.word("ly"), '!', model.word(" world"), 's', '.', '.'};
  const auto words = group_words(ids, model.tokenizer(), "en");
  EXPECT_EQ(texts(words), (Texts{" helloly", "!", " worlds", ".", "."}));
  EXPECT_EQ(words[0].tokens, 2u);
  EXPECT_EQ(words[2].tokens, 2u);
}

TEST(GroupWords, FirstWordNeedsNoSpace) {
  const FakeModel model({});
  EXPECT_EQ(
      texts(group_words(std::vector<int>{'a', 'b', model.word(" one")}, model.tokenizer(), "en")),
      (Texts{"ab", " one"}));
}

TEST(GroupWords, SomeLanguagesSplitAtEveryCharacterButNeverInside) {
  const FakeModel model({});
  const std::vector<int> ids = {model.word("\xE4\xBD"), 0xA0, model.word("\xE5\xA5\xBD"), 'a', 'b'};
  const auto words = group_words(ids, model.tokenizer(), "zh");
  EXPECT_EQ(texts(words), (Texts{"\xE4\xBD\xA0", "\xE5\xA5\xBD", "a", "b"}));
  EXPECT_EQ(words[0].tokens, 2u);
  EXPECT_TRUE(splits_at_characters("ja"));
  EXPECT_FALSE(splits_at_characters("de"));
}

TEST(GroupWords, TokensAreNeverLost) {
  const FakeModel model({});
  const std::vector<int> ids = {0xE4, 'a', model.word(" one"), 0xFF, model.word("\xE4\xBD")};
  for (const char* language : {"en", "zh"}) {
    size_t tokens = 0;
    std::string text;
    for (const TimedWord& word : group_words(ids, model.tokenizer(), language)) {
      tokens += word.tokens;
      text += word.text;
    }
    EXPECT_EQ(tokens, ids.size());
    EXPECT_EQ(text, model.tokenizer().decode(ids));
  }
  EXPECT_TRUE(group_words({}, model.tokenizer(), "en").empty());
}

TEST(TimeWords, TakesBordersAndMeanProbability) {
  std::vector<TimedWord> words = {{" a", 2, 0, 0, 0}, {" b", 1, 0, 0, 0}};
  time_words({{0.1, 0.3, 0.6, 1.0}, {0.2f, 0.4f, 0.9f}}, words);
  EXPECT_DOUBLE_EQ(words[0].start, 0.1);
  EXPECT_DOUBLE_EQ(words[0].end, 0.6);
  EXPECT_FLOAT_EQ(words[0].probability, 0.3f);
  EXPECT_DOUBLE_EQ(words[1].end, 1.0);
}

TEST(MergePunctuation, GoesToItsWord) {
  auto words = timed({{" (", 0, 1},
                      {"one", 1, 2},
                      {",", 2, 3},
                      {" \"", 3, 4},
                      {"two", 4, 5},
                      {"!", 5, 6},
                      {"\"", 6, 7}});
  merge_punctuation(words, "\"'“¿([{-", "\"'.。,，!！?？:：”)]}、");
  EXPECT_EQ(texts(words), (Texts{"", " (one,", "", "", " \"two!\"", "", ""}));
  EXPECT_EQ(words[1].tokens, 3u);
  EXPECT_EQ(words[4].tokens, 4u);
  EXPECT_DOUBLE_EQ(words[1].start, 1);  // The word keeps its own time
  std::vector<TimedWord> none;
  merge_punctuation(none, "(", ")");
}

TEST(MergePunctuation, NestedMarksAllMove) {
  auto words = timed({{" (", 0, 1}, {" \"", 1, 2}, {" one", 2, 3}});
  merge_punctuation(words, "\"(", "");
  EXPECT_EQ(texts(words), (Texts{"", "", " ( \" one"}));
}

TEST(UsualDurations, IsTheMedianOfWhatLasts) {
  EXPECT_DOUBLE_EQ(usual_durations({}).median, 0);
  const WordDurations odd =
      usual_durations(timed({{"a", 0, 0.1}, {"b", 0, 0}, {"c", 0, 0.3}, {"d", 0, 0.2}}));
  EXPECT_DOUBLE_EQ(odd.median, 0.2);
  EXPECT_DOUBLE_EQ(odd.maximum, 0.4);
  EXPECT_DOUBLE_EQ(usual_durations(timed({{"a", 0, 0.1}, {"b", 0, 0.3}})).median, 0.2);
  EXPECT_DOUBLE_EQ(usual_durations(timed({{"a", 0, 5}})).median, 0.7);
}

TEST(ShortenAtSentenceEnds, CutsThePauseOff) {
  auto words = timed({{" a", 0, 0.2},
                      {".", 0.2, 3.0},
                      {" b", 3.0, 3.2},
                      {"!", 3.2, 3.3},
                      {" c", 3.3, 9},
                      {" d", 9, 20}});
  shorten_at_sentence_ends(words, {0.2, 0.4});
  EXPECT_DOUBLE_EQ(words[1].end, 0.6);
  EXPECT_DOUBLE_EQ(words[4].start, 8.6);
  EXPECT_DOUBLE_EQ(words[5].start, 9) << "no sentence end beside it";
}

/// Segments of `counts` text tokens each, between timestamps.
std::vector<Segment> segments_of(const std::vector<int>& counts,
                                 const std::vector<std::pair<double, double>>& times) {
  std::vector<Segment> segments;
  for (size_t i = 0; i < counts.size(); ++i) {
    Segment segment;
    segment.start = times[i].first;
    segment.end = times[i].second;
    segment.tokens.resize(static_cast<size_t>(counts[i]) + 2);
    segment.tokens.front().id = 5000;
    segment.tokens.back().id = 5050;
    segments.push_back(segment);
  }
  return segments;
}

constexpr int kEot = 1000;

TEST(AssignWords, ByTheirTokens) {
  auto words = timed({{" a", 0.5, 1}, {" b", 1, 1.4}, {" c", 2, 2.5}});
  auto segments = segments_of({2, 1}, {{100, 101.4}, {101.8, 102.6}});
  const double end = assign_words(words, usual_durations(words), 100, 100, kEot, segments);
  ASSERT_EQ(segments[0].words.size(), 2u);
  EXPECT_EQ(segments[0].words[1].text, " b");
  EXPECT_DOUBLE_EQ(segments[0].words[1].start, 101);
  EXPECT_DOUBLE_EQ(segments[0].start, 100.5) << "the segment begins with its first word";
  EXPECT_DOUBLE_EQ(segments[0].end, 101.4);
  ASSERT_EQ(segments[1].words.size(), 1u);
  EXPECT_DOUBLE_EQ(segments[1].end, 102.5);
  EXPECT_DOUBLE_EQ(end, 102.5);
}

TEST(AssignWords, AWordAcrossABorderBelongsWhereItBegins) {
  std::vector<TimedWord> words = {{" a", 3, 0, 1, 0.5f}, {" b", 1, 1, 2, 0.5f}};
  auto segments = segments_of({2, 2}, {{0, 1}, {1, 2}});
  assign_words(words, usual_durations(words), 0, 0, kEot, segments);
  EXPECT_EQ(segments[0].words.size(), 1u);
  ASSERT_EQ(segments[1].words.size(), 1u);
  EXPECT_EQ(segments[1].words[0].text, " b");
}

TEST(AssignWords, FirstWordAfterAPauseIsShortened) {
  auto words = timed({{" a", 0, 6}, {" b", 6, 6.2}, {" c", 6.2, 6.4}});
  auto segments = segments_of({3}, {{5.9, 6.4}});
  assign_words(words, {0.2, 0.4}, 0, 0, kEot, segments);
  EXPECT_DOUBLE_EQ(segments[0].words[0].start, 5.6);
  EXPECT_DOUBLE_EQ(segments[0].words[0].end, 6);
}

TEST(AssignWords, SegmentBordersWinAgainstWordsThatAreFarTooLong) {
  auto words = timed({{" a", 0, 3}, {" b", 3, 3.2}, {" c", 3.2, 8}});
  auto segments = segments_of({3}, {{2, 4}});
  assign_words(words, {0.2, 9}, 0, 2.5, kEot, segments);
  EXPECT_DOUBLE_EQ(segments[0].words[0].start, 2);
  EXPECT_DOUBLE_EQ(segments[0].start, 2);
  EXPECT_DOUBLE_EQ(segments[0].words[2].end, 4);
  EXPECT_DOUBLE_EQ(segments[0].end, 4);
}

TEST(AssignTokenTimes, StayInsideTheirWords) {
  const FakeModel model({});
  std::vector<TimedWord> words = {{" ab", 2, 0, 0, 0}, {" c", 1, 0, 0, 0}};
  const TokenAlignment alignment{{0.0, 0.5, 1.0, 1.4}, {1, 1, 1}};
  time_words(alignment, words);
  auto segments = segments_of({2, 1}, {{10, 11}, {11, 11.4}});
  assign_words(words, {0.5, 1}, 10, 10, kEot, segments);
  assign_token_times(alignment, words, 10, kEot, 5000, segments);
  EXPECT_DOUBLE_EQ(segments[0].tokens[0].start, 10);  // [_TT_0]
  EXPECT_DOUBLE_EQ(segments[0].tokens[1].start, 10);
  EXPECT_DOUBLE_EQ(segments[0].tokens[1].end, 10.5);
  EXPECT_DOUBLE_EQ(segments[0].tokens[2].end, 11);
  EXPECT_DOUBLE_EQ(segments[0].tokens[3].start, 11);  // [_TT_50]
  EXPECT_DOUBLE_EQ(segments[1].tokens[1].start, 11);
  EXPECT_DOUBLE_EQ(segments[1].tokens[1].end, 11.4);
}

}  // namespace
}  // namespace sotto::whisper
