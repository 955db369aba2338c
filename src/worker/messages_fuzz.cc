#include <cstdlib>

#include "worker/messages.h"

// The first byte is the type. What is accepted must be encoded to a message that is accepted again
// and has the same bytes (which comparing members would not do for NaN).
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sotto::worker;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  if (size >= kFrameHead) static_cast<void>(parse_head(bytes.first<kFrameHead>()));
  if (size == 0) return 0;
  const auto message = parse_body(data[0], bytes.subspan(1));
  if (!message.ok()) return 0;
  const auto frame = encode_message(*message);
  if (!frame.ok()) std::abort();
  const auto again = parse_body(data[0], std::as_bytes(std::span(*frame)).subspan(kFrameHead));
  if (!again.ok() || *encode_message(*again) != *frame) std::abort();
  return 0;
}
