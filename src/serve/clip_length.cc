#include "serve/clip_length.h"

namespace sotto::serve {
namespace {

constexpr double kUnknown = -1;

uint64_t byte_at(std::string_view bytes, size_t position) {
  return static_cast<unsigned char>(bytes[position]);
}

uint64_t little_endian_32(std::string_view bytes, size_t position) {
  return byte_at(bytes, position) | byte_at(bytes, position + 1) << 8 |
         byte_at(bytes, position + 2) << 16 | byte_at(bytes, position + 3) << 24;
}

double wav_seconds(std::string_view head, int64_t size) {
  constexpr size_t kByteRate = 8;  // In a chunk "fmt "
  size_t chunk = 12;
  while (chunk + 8 <= head.size() && head.substr(chunk, 4) != "fmt ") {
    const uint64_t length = little_endian_32(head, chunk + 4);
    if (length > head.size()) return kUnknown;
    chunk += 8 + length + length % 2;
  }
  if (chunk + 8 + kByteRate + 4 > head.size()) return kUnknown;
  const uint64_t byte_rate = little_endian_32(head, chunk + 8 + kByteRate);
  // The header's own length of the data may be that of a stream; the file's size cannot lie.
  return byte_rate > 0 ? static_cast<double>(size) / static_cast<double>(byte_rate) : kUnknown;
}

double flac_seconds(std::string_view head) {
  constexpr size_t kRate = 18;  // 20 bits, then 3 + 5 bits of others, then 36 bits of samples
  if (head.size() < kRate + 8) return kUnknown;
  uint64_t bits = 0;
  for (size_t i = 0; i < 8; ++i)
    bits = bits << 8 | byte_at(head, kRate + i);
  const uint64_t rate = bits >> 44;
  const uint64_t samples = bits & ((uint64_t{1} << 36) - 1);
  if (rate == 0 || samples == 0) return kUnknown;
  return static_cast<double>(samples) / static_cast<double>(rate);
}

}  // namespace

double length_by_header(std::string_view head, int64_t size) {
  const std::string_view magic = head.substr(0, 4);
  const bool is_wav =
      (magic == "RIFF" || magic == "RF64") && head.size() >= 12 && head.substr(8, 4) == "WAVE";
  if (is_wav) return wav_seconds(head, size);
  return magic == "fLaC" ? flac_seconds(head) : kUnknown;
}

}  // namespace sotto::serve
