// Any bytes as an instruction stream: decoding must not crash, and what decodes must encode to the
// same words.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "npu/txn/disassemble.h"
#include "npu/txn/stream.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sotto::npu;
  const auto words = words_from_bytes(std::as_bytes(std::span(data, size)));
  if (!words.ok()) return 0;
  const auto stream = decode_stream(*words);
  if (!stream.ok()) return 0;
  const auto listing = disassemble(*words, nullptr);
  if (!listing.ok()) std::abort();
  const auto again = decode_stream(encode_stream(*stream));
  if (!again.ok() || again->ops.size() != stream->ops.size()) std::abort();
  return 0;
}
