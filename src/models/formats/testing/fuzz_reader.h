// The body of the fuzz targets of the four readers.
#ifndef SOTTO_MODELS_FORMATS_TESTING_FUZZ_READER_H_
#define SOTTO_MODELS_FORMATS_TESTING_FUZZ_READER_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "models/formats/detect.h"
#include "models/formats/testing/index_problem.h"

namespace sotto::models::testing {

/// Any bytes give a failure with a message, or an index whose views lie in them; anything else ends
/// the program.
inline int fuzz_reader(Reader reader, const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  ModelFile file;
  const Status status = reader(bytes, file);
  const bool sound = status.ok() ? index_problem(file, bytes).empty() : !status.message().empty();
  const Result<FileFormat> format = detect_format(bytes);
  if (!sound || (!format.ok() && format.status().message().empty())) std::abort();
  return 0;
}

}  // namespace sotto::models::testing

#endif  // SOTTO_MODELS_FORMATS_TESTING_FUZZ_READER_H_
