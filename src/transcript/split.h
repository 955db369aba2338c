// Shorter segments than the model gives, cut between words.
#ifndef SOTTO_TRANSCRIPT_SPLIT_H_
#define SOTTO_TRANSCRIPT_SPLIT_H_

#include <vector>

#include "sotto/transcript.h"

namespace sotto::transcript {

/// True for timestamp tokens and the like, which are no part of the text.
bool is_special(const Token& token);

/// Pieces of at most `max_characters` (spaces at their ends do not count); a longer word is a piece
/// of its own, so 1 gives one word a piece. Words and tokens go with their text. A segment without
/// words, or max_characters <= 0, stays whole. Ids are those of the segment.
std::vector<Segment> split_segment(const Segment& segment, int max_characters);

}  // namespace sotto::transcript

#endif  // SOTTO_TRANSCRIPT_SPLIT_H_
