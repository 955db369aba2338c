#include "transcript/split.h"

#include "base/utf8.h"
#include "transcript/tidy.h"

namespace sotto::transcript {
namespace {

/// Moves tokens from `next` on into `piece` until they make up its text; special tokens that follow
/// go along.
void take_tokens(const std::vector<Token>& tokens, size_t& next, Segment& piece) {
  size_t bytes = 0;
  while (next < tokens.size()) {
    const Token& token = tokens[next];
    if (!is_special(token)) {
      if (bytes >= piece.text.size()) return;
      bytes += token.text.size();
    }
    piece.tokens.push_back(token);
    ++next;
  }
}

}  // namespace

bool is_special(const Token& token) {
  return token.text.starts_with("[_") || token.text.starts_with("<|");
}

std::vector<Segment> split_segment(const Segment& segment, int max_characters) {
  if (max_characters <= 0 || segment.words.empty()) return {segment};
  Segment frame = segment;  // what all pieces share
  frame.text.clear();
  frame.words.clear();
  frame.tokens.clear();
  std::vector<Segment> pieces;
  for (const Word& word : segment.words) {
    const bool fits = !pieces.empty() && utf8_length(trim(pieces.back().text + word.text)) <=
                                             static_cast<size_t>(max_characters);
    if (!fits) {
      pieces.push_back(frame);
      pieces.back().start = word.start;
    }
    Segment& piece = pieces.back();
    piece.text += word.text;
    piece.end = word.end;
    piece.words.push_back(word);
  }
  size_t next = 0;
  for (Segment& piece : pieces)
    take_tokens(segment.tokens, next, piece);
  return pieces;
}

}  // namespace sotto::transcript
