#include "whisper/words.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/utf8.h"
#include "whisper/text.h"
#include "whisper/times.h"

namespace sotto::whisper {
namespace {

constexpr std::string_view kAsciiPunctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
constexpr std::string_view kSentenceEnds = ".。!！?？";
constexpr double kLongestMedian = 0.7;

bool contains(std::string_view list, std::string_view part) {
  return list.find(part) != std::string_view::npos;
}

double round_to_hundredths(double seconds) {
  return std::round(seconds * 100) / 100;
}

/// The smallest groups of tokens that hold whole characters.
std::vector<TimedWord> group_characters(std::span<const int> text,
                                        const tokenizer::Tokenizer& tokenizer) {
  std::vector<TimedWord> groups;
  TimedWord open;
  for (const int id : text) {
    open.text += tokenizer.token_bytes(id);
    ++open.tokens;
    if (utf8_complete_prefix(open.text) == open.text.size())
      groups.push_back(std::exchange(open, {}));
  }
  if (open.tokens > 0) groups.push_back(std::move(open));  // The text ends inside a character
  return groups;
}

/// Words of one segment: those of the window that begin in it.
std::vector<Word> take_words(const std::vector<TimedWord>& words, double offset_s,
                             size_t text_tokens, size_t& next) {
  std::vector<Word> taken;
  size_t used = 0;
  for (; next < words.size() && used < text_tokens; ++next) {
    const TimedWord& word = words[next];
    used += word.tokens;
    if (word.text.empty()) continue;
    taken.push_back({utf8_repair(word.text), round_to_hundredths(offset_s + word.start),
                     round_to_hundredths(offset_s + word.end), word.probability});
  }
  return taken;
}

/// The first and second word after a pause are not to hold the pause.
void shorten_after_pause(std::vector<Word>& words, const WordDurations& usual,
                         double last_speech_s) {
  Word& first = words[0];
  if (first.end - last_speech_s <= usual.median * 4) return;
  const bool first_is_long = first.end - first.start > usual.maximum;
  const bool both_are_long = words.size() > 1 && words[1].end - first.start > usual.maximum * 2;
  if (!first_is_long && !both_are_long) return;
  if (words.size() > 1 && words[1].end - words[1].start > usual.maximum) {
    const double border = std::max(words[1].end / 2, words[1].end - usual.maximum);
    first.end = words[1].start = border;
  }
  first.start = std::max(0.0, first.end - usual.maximum);
}

/// A segment's borders follow its words, unless its outer word is far too long: then the word gives
/// way.
void fit_borders(Segment& segment, const WordDurations& usual) {
  Word& first = segment.words.front();
  Word& last = segment.words.back();
  if (segment.start < first.end && segment.start - 0.5 > first.start) {
    first.start = std::max(0.0, std::min(first.end - usual.median, segment.start));
  } else {
    segment.start = first.start;
  }
  if (segment.end > last.start && segment.end + 0.5 < last.end) {
    last.end = std::max(last.start + usual.median, segment.end);
  } else {
    segment.end = last.end;
  }
}

size_t count_text_tokens(const Segment& segment, int eot) {
  return static_cast<size_t>(std::count_if(segment.tokens.begin(), segment.tokens.end(),
                                           [eot](const Token& token) { return token.id < eot; }));
}

}  // namespace

bool splits_at_characters(std::string_view language) {
  constexpr std::array<std::string_view, 6> kLanguages = {"zh", "ja", "th", "lo", "my", "yue"};
  return std::find(kLanguages.begin(), kLanguages.end(), language) != kLanguages.end();
}

std::vector<TimedWord> group_words(std::span<const int> text, const tokenizer::Tokenizer& tokenizer,
                                   std::string_view language) {
  std::vector<TimedWord> groups = group_characters(text, tokenizer);
  if (splits_at_characters(language)) return groups;
  std::vector<TimedWord> words;
  for (TimedWord& group : groups) {
    const bool begins_word =
        group.text.starts_with(' ') || contains(kAsciiPunctuation, trimmed(group.text));
    if (begins_word || words.empty()) {
      words.push_back(std::move(group));
    } else {
      words.back().text += group.text;
      words.back().tokens += group.tokens;
    }
  }
  return words;
}

void time_words(const TokenAlignment& alignment, std::vector<TimedWord>& words) {
  size_t first = 0;
  for (TimedWord& word : words) {
    const size_t end = first + word.tokens;
    word.start = alignment.borders[first];
    word.end = alignment.borders[end];
    double sum = 0;
    for (size_t i = first; i < end; ++i)
      sum += alignment.probabilities[i];
    word.probability = static_cast<float>(sum / static_cast<double>(word.tokens));
    first = end;
  }
}

void merge_punctuation(std::vector<TimedWord>& words, std::string_view prepend,
                       std::string_view append) {
  const auto move_text = [](TimedWord& from, std::string text, TimedWord& to) {
    to.text = std::move(text);
    to.tokens += std::exchange(from.tokens, 0);
    from.text.clear();
  };
  if (words.empty()) return;
  // Backwards, so that several opening marks all reach the word after them.
  for (size_t i = words.size() - 1, following = i; i-- > 0;) {
    TimedWord& word = words[i];
    if (word.text.starts_with(' ') && contains(prepend, trimmed(word.text))) {
      move_text(word, word.text + words[following].text, words[following]);
    } else {
      following = i;
    }
  }
  for (size_t i = 1, previous = 0; i < words.size(); ++i) {
    TimedWord& word = words[i];
    if (!words[previous].text.ends_with(' ') && contains(append, word.text)) {
      move_text(word, words[previous].text + word.text, words[previous]);
    } else {
      previous = i;
    }
  }
}

WordDurations usual_durations(const std::vector<TimedWord>& words) {
  std::vector<double> durations;
  for (const TimedWord& word : words) {
    if (word.duration() != 0) durations.push_back(word.duration());
  }
  if (durations.empty()) return {};
  std::sort(durations.begin(), durations.end());
  const size_t middle = durations.size() / 2;
  const double median = durations.size() % 2 == 1 ? durations[middle]
                                                  : (durations[middle - 1] + durations[middle]) / 2;
  const double bounded = std::min(kLongestMedian, median);
  return {bounded, bounded * 2};
}

void shorten_at_sentence_ends(std::vector<TimedWord>& words, const WordDurations& usual) {
  if (usual.maximum == 0) return;
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i].duration() <= usual.maximum) continue;
    if (contains(kSentenceEnds, words[i].text)) {
      words[i].end = words[i].start + usual.maximum;
    } else if (contains(kSentenceEnds, words[i - 1].text)) {
      words[i].start = words[i].end - usual.maximum;
    }
  }
}

double assign_words(const std::vector<TimedWord>& words, const WordDurations& usual,
                    double offset_s, double last_speech_s, int eot,
                    std::vector<Segment>& segments) {
  size_t next = 0;
  for (Segment& segment : segments) {
    segment.words = take_words(words, offset_s, count_text_tokens(segment, eot), next);
    if (segment.words.empty()) continue;
    shorten_after_pause(segment.words, usual, last_speech_s);
    fit_borders(segment, usual);
    last_speech_s = segment.end;
  }
  return last_speech_s;
}

void assign_token_times(const TokenAlignment& alignment, const std::vector<TimedWord>& words,
                        double offset_s, int eot, int timestamp_begin,
                        std::vector<Segment>& segments) {
  // The final times of the words stand in the segments, in the order of those `words` that have
  // text.
  std::vector<const Word*> final_words;
  std::vector<Token*> text_tokens;
  for (Segment& segment : segments) {
    for (const Word& word : segment.words)
      final_words.push_back(&word);
    for (Token& token : segment.tokens) {
      if (token.id < eot) {
        text_tokens.push_back(&token);
      } else if (token.id >= timestamp_begin) {
        token.start = token.end = offset_s + (token.id - timestamp_begin) * kSecondsPerPosition;
      }
    }
  }
  size_t index = 0;
  size_t named = 0;
  for (const TimedWord& word : words) {
    if (word.text.empty() || named == final_words.size()) continue;
    const Word& bounds = *final_words[named++];
    const double low = std::min(bounds.start, bounds.end);
    const double high = std::max(bounds.start, bounds.end);
    for (size_t i = 0; i < word.tokens && index < text_tokens.size(); ++i, ++index) {
      text_tokens[index]->start = std::clamp(offset_s + alignment.borders[index], low, high);
      text_tokens[index]->end = std::clamp(offset_s + alignment.borders[index + 1], low, high);
    }
  }
}

}  // namespace sotto::whisper
