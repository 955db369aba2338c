// The key-value part of a GGUF file.
#ifndef SOTTO_MODELS_FORMATS_GGUF_METADATA_H_
#define SOTTO_MODELS_FORMATS_GGUF_METADATA_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "models/formats/byte_reader.h"
#include "models/formats/model_file.h"
#include "sotto/status.h"

namespace sotto::models {

/// u64 length and the bytes; longer than `max_bytes` is kCorrupt.
Result<std::string> read_gguf_string(ByteReader& in, std::string_view what, uint64_t max_bytes);

/// Reads `count` pairs into out.metadata. Signed integers become int64_t, unsigned ones uint64_t,
/// floats double; arrays of integers and booleans become int64_t vectors. A nested array is stored
/// flat; its leaves must be of one kind. Depth and the number of elements in the file are bounded.
Status read_gguf_metadata(ByteReader& in, uint64_t count, ModelFile& out);

}  // namespace sotto::models

#endif  // SOTTO_MODELS_FORMATS_GGUF_METADATA_H_
