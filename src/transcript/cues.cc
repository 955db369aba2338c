#include "transcript/cues.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/utf8.h"
#include "transcript/tidy.h"

namespace sotto::transcript {
namespace {

/// A pause that starts a new cue where cues may go over the borders of segments.
constexpr double kLongPauseS = 3.0;

size_t limit_or_none(int limit) {
  return limit > 0 ? static_cast<size_t>(limit) : std::numeric_limits<size_t>::max();
}

std::string without_arrow(std::string_view text) {
  return replace_all(text, "-->", "->");
}

/// "\n word" -> "\n <u>word</u>"
std::string underlined(std::string_view text) {
  const size_t first = text.find_first_not_of(" \n");
  if (first == std::string_view::npos) return std::string(text);
  return std::string(text.substr(0, first)) + "<u>" + std::string(text.substr(first)) + "</u>";
}

class CueBuilder {
 public:
  CueBuilder(const WriterOptions& options, Escape escape)
      : escape_(escape),
        highlight_(options.highlight_words),
        width_(limit_or_none(options.max_line_width)),
        lines_(limit_or_none(options.max_line_count)),
        words_per_cue_(limit_or_none(options.max_words_per_line)),
        // Only with both limits may a cue take words from two segments.
        keep_segments_(options.max_line_width <= 0 || options.max_line_count <= 0) {}

  void add(const Segment& segment) {
    const std::string speaker = without_arrow(segment.speaker);
    if (speaker != speaker_) finish_cue();
    speaker_ = speaker;
    if (segment.words.empty()) {
      finish_cue();
      add_plain(segment);
      return;
    }
    size_t index = 0;
    for (const Word& word : segment.words) {
      const std::string bare = one_line(word.text);
      if (bare.empty()) continue;
      const bool begins_group = keep_segments_ && index++ % words_per_cue_ == 0;
      add_word(word, bare, begins_group);
    }
  }

  std::vector<Cue> take() {
    finish_cue();
    // Times of words and of segments without words need not be in order between them.
    double previous_start = 0;
    for (Cue& cue : cues_) {
      cue.start = previous_start = std::max(cue.start, previous_start);
      cue.end = std::max(cue.end, cue.start);
    }
    return std::move(cues_);
  }

 private:
  void add_plain(const Segment& segment) {
    const std::string text = one_line(segment.text);
    if (text.empty()) return;
    cues_.push_back({segment.start, segment.end, escape_(without_arrow(text)), speaker_});
  }

  /// Continues the line, or begins a line or a cue with the word.
  void add_word(const Word& word, const std::string& bare, bool begins_group) {
    const bool spaced = word.text.front() == ' ';
    const size_t length = utf8_length(bare) + (spaced ? 1 : 0);
    const bool long_pause =
        !keep_segments_ && !cue_.empty() && word.start - cue_.back().start > kLongPauseS;
    const bool has_room = length <= width_ && line_length_ <= width_ - length;
    if (!cue_.empty() && has_room && !long_pause && !begins_group) {
      cue_.push_back({(spaced ? " " : "") + bare, word.start, word.end});
      line_length_ += length;
      return;
    }
    if (begins_group || long_pause || line_count_ >= lines_) finish_cue();
    if (!cue_.empty()) ++line_count_;
    cue_.push_back({(cue_.empty() ? "" : "\n") + bare, word.start, word.end});
    line_length_ = utf8_length(bare);
  }

  void finish_cue() {
    if (cue_.empty()) return;
    std::string text;
    for (const Word& word : cue_)
      text += word.text;
    if (highlight_) {
      add_highlighted();
    } else {
      cues_.push_back(
          {cue_.front().start, cue_.back().end, escape_(without_arrow(text)), speaker_});
    }
    cue_.clear();
    line_length_ = 0;
    line_count_ = 1;
  }

  /// The cue's text with word `marked` underlined; none when it is the number of words.
  [[nodiscard]] std::string text_with_mark(size_t marked) const {
    std::string text;
    for (size_t i = 0; i < cue_.size(); ++i) {
      const std::string word = escape_(cue_[i].text);
      text += i == marked ? underlined(word) : word;
    }
    return without_arrow(text);
  }

  /// A cue for each word and each pause between words.
  void add_highlighted() {
    double last = cue_.front().start;
    for (size_t i = 0; i < cue_.size(); ++i) {
      const Word& word = cue_[i];
      if (last < word.start) {
        cues_.push_back({last, word.start, text_with_mark(cue_.size()), speaker_});
      }
      cues_.push_back({word.start, word.end, text_with_mark(i), speaker_});
      last = word.end;
    }
  }

  Escape escape_;
  bool highlight_;
  size_t width_, lines_, words_per_cue_;
  bool keep_segments_;
  std::vector<Cue> cues_;
  std::vector<Word> cue_;  // of the cue in the making; texts with the space or line end before them
  std::string speaker_;
  size_t line_length_ = 0;
  size_t line_count_ = 1;
};

}  // namespace

std::vector<Cue> make_cues(const Transcript& transcript, const WriterOptions& options,
                           Escape escape) {
  CueBuilder builder(options, escape);
  for (const Segment& segment : transcript.segments)
    builder.add(segment);
  return builder.take();
}

}  // namespace sotto::transcript
