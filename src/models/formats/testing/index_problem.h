// What must hold of every index that a reader returns, whatever the file.
#ifndef SOTTO_MODELS_FORMATS_TESTING_INDEX_PROBLEM_H_
#define SOTTO_MODELS_FORMATS_TESTING_INDEX_PROBLEM_H_

#include <cstddef>
#include <span>
#include <string>

#include "models/formats/model_file.h"

namespace sotto::models::testing {

/// One of the readers of model_file.h.
using Reader = Status (*)(std::span<const std::byte>, ModelFile&);

/// What is wrong with the index: a view that leaves `bytes`, or whose size contradicts its type and
/// shape; "" if none.
std::string index_problem(const ModelFile& file, std::span<const std::byte> bytes);

}  // namespace sotto::models::testing

#endif  // SOTTO_MODELS_FORMATS_TESTING_INDEX_PROBLEM_H_
