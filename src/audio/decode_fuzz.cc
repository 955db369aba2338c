// Any bytes: a recording or an error, never a crash, a hang or unbounded memory.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "audio/recording.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sotto::audio::DecodeOptions options;
  options.limit_s = 60;
  std::span<const uint8_t> bytes(data, size);
  // "raw" and three bytes before the samples take the path for headerless input.
  constexpr size_t kRawHeader = 6;
  if (size >= kRawHeader && std::memcmp(data, "raw", 3) == 0) {
    static const char* const kFormats[] = {"s16le", "f32le", "f64be",   "u8",
                                           "alaw",  "s24be", "nonsense"};
    options.raw = sotto::audio::RawFormat{kFormats[data[3] % 7], data[4] * 1000, data[5]};
    bytes = bytes.subspan(kRawHeader);
  }
  const auto recording = sotto::audio::decode_memory(std::as_bytes(bytes), "fuzz", options);
  if (recording.ok() && recording->seconds() > options.limit_s + 1) __builtin_trap();
  return 0;
}
