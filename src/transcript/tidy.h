// What every writer does first: a copy of the transcript that is safe to print.
#ifndef SOTTO_TRANSCRIPT_TIDY_H_
#define SOTTO_TRANSCRIPT_TIDY_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "sotto/transcript.h"

namespace sotto::transcript {

/// The transcript with valid UTF-8 texts, finite numbers, and times as write() promises them.
Transcript tidy(const Transcript& transcript);

/// Nearest millisecond; 0 for what is no time (negative, NaN), and at most kLongestMs.
int64_t to_ms(double seconds);

/// The longest time that is written, about 11 years: keeps the arithmetic far from overflow.
inline constexpr int64_t kLongestMs = 99'999LL * 3'600'000;

/// Without white space at both ends.
std::string_view trim(std::string_view text);

/// On one line: trimmed, and each run of line ends a single space.
std::string one_line(std::string_view text);

/// Every occurrence of `from` (not empty) replaced.
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

}  // namespace sotto::transcript

#endif  // SOTTO_TRANSCRIPT_TIDY_H_
