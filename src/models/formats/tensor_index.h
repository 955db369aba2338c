// What all readers share: names made safe to print, shapes, and adding a tensor to the index.
#ifndef SOTTO_MODELS_FORMATS_TENSOR_INDEX_H_
#define SOTTO_MODELS_FORMATS_TENSOR_INDEX_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/formats/model_file.h"
#include "sotto/status.h"

namespace sotto::models {

/// Longest tensor name and most dimensions that any reader accepts.
inline constexpr uint64_t kMaxNameBytes = 1024;
inline constexpr uint64_t kMaxRank = 8;

/// `name` in quotes, for messages: control characters and invalid UTF-8 become \xNN, long names are
/// cut.
std::string printable(std::string_view name);

/// "[384, 80, 3]"
std::string shape_text(std::span<const int64_t> dims);

/// Product of `dims`, or nothing when one is negative or the product overflows int64.
std::optional<int64_t> element_count(std::span<const int64_t> dims);

/// Bytes of a tensor whose rows (innermost dimension) are whole blocks of `type`; kCorrupt when
/// they are not or when the size overflows. The message does not name the tensor.
Result<int64_t> tensor_bytes(DType type, std::span<const int64_t> dims);

/// Adds a tensor of exactly tensor_bytes() bytes; kCorrupt for an empty or repeated name.
Status add_tensor(ModelFile& out, std::string name, TensorView view);

}  // namespace sotto::models

#endif  // SOTTO_MODELS_FORMATS_TENSOR_INDEX_H_
