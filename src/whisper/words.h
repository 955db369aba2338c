// Words of a window: grouping tokens, punctuation, and the repair of implausible times.
#ifndef SOTTO_WHISPER_WORDS_H_
#define SOTTO_WHISPER_WORDS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/transcript.h"
#include "tokenizer/tokenizer.h"
#include "whisper/align.h"

namespace sotto::whisper {

/// A run of tokens that makes a word. After merging, a word that went into a neighbour is left with
/// no token and text.
struct TimedWord {
  std::string text;
  size_t tokens = 0;
  double start = 0;  ///< Seconds from the window's start
  double end = 0;
  float probability = 0;  ///< Mean of its tokens'

  [[nodiscard]] double duration() const { return end - start; }
};

/// Whether `language` is written without spaces; its words are single characters.
bool splits_at_characters(std::string_view language);

/// Groups text tokens into words: at spaces and punctuation, or at every character. A character is
/// never cut.
std::vector<TimedWord> group_words(std::span<const int> text, const tokenizer::Tokenizer& tokenizer,
                                   std::string_view language);

/// Fills times and probabilities of `words` from those of their tokens.
void time_words(const TokenAlignment& alignment, std::vector<TimedWord>& words);

/// Puts opening punctuation to the word after it and closing punctuation to the word before it.
void merge_punctuation(std::vector<TimedWord>& words, std::string_view prepend,
                       std::string_view append);

/// What openai/whisper counts as usual in a window: the median duration of a word, at most 0.7 s,
/// and twice that.
struct WordDurations {
  double median = 0;
  double maximum = 0;
};
WordDurations usual_durations(const std::vector<TimedWord>& words);

/// Shortens words beside the end of a sentence that last longer than usual: they hold the pause.
void shorten_at_sentence_ends(std::vector<TimedWord>& words, const WordDurations& usual);

/// Hands the words to the segments they belong to (`Segment::words`, times on the recording's
/// clock), shortens words after a pause, and moves the segments' own borders to their words.
/// `offset_s`: the window's start. Returns the end of the last segment with words, or
/// `last_speech_s`, where speech ended before this window. A word that crosses a border belongs to
/// the segment where it begins.
double assign_words(const std::vector<TimedWord>& words, const WordDurations& usual,
                    double offset_s, double last_speech_s, int eot, std::vector<Segment>& segments);

/// Gives every token of the segments its own time: text tokens from `alignment`, kept inside their
/// word, timestamp tokens the time they say. To be called after assign_words with the same words.
void assign_token_times(const TokenAlignment& alignment, const std::vector<TimedWord>& words,
                        double offset_s, int eot, int timestamp_begin,
                        std::vector<Segment>& segments);

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_WORDS_H_
