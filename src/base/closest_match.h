// "Did you mean …?"
#ifndef SOTTO_BASE_CLOSEST_MATCH_H_
#define SOTTO_BASE_CLOSEST_MATCH_H_

#include <span>
#include <string>
#include <string_view>

namespace sotto {

/// Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`; bytes, not
/// characters. O(|a| * |b|) time.
int edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to what was typed, or "" when none is near enough to be meant (more than a
/// third of its letters would have to change). Names longer than 64 bytes match nothing.
std::string closest_match(std::string_view typed, std::span<const std::string> candidates);

}  // namespace sotto

#endif  // SOTTO_BASE_CLOSEST_MATCH_H_
