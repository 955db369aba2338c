// Properties that every reader must have on every input.
#ifndef SOTTO_MODELS_FORMATS_TESTING_READER_CHECKS_H_
#define SOTTO_MODELS_FORMATS_TESTING_READER_CHECKS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "models/formats/testing/index_problem.h"

namespace sotto::models::testing {

/// Offset of a view in the bytes it was read from.
inline size_t offset_in(std::span<const std::byte> view, const std::vector<std::byte>& file) {
  return static_cast<size_t>(view.data() - file.data());
}

/// The failure of `reader` on `bytes`; OK when there is none.
Status failure(Reader reader, std::span<const std::byte> bytes);

/// Fails the test unless `reader` accepts `valid`, and refuses every shorter prefix of it as
/// corrupt.
void expect_every_truncation_fails(Reader reader, const std::vector<std::byte>& valid);

/// Overwrites, inserts and removes bytes of `valid` at random (fixed seed), `rounds` times; every
/// outcome must be a failure with a message, or an index without problems.
void expect_mutations_are_harmless(Reader reader, const std::vector<std::byte>& valid, int rounds);

}  // namespace sotto::models::testing

#endif  // SOTTO_MODELS_FORMATS_TESTING_READER_CHECKS_H_
