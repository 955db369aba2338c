#include "audio/sniff.h"

#include <algorithm>
#include <cstdint>

namespace sotto::audio {
namespace {

using std::string_view_literals::operator""sv;

struct Signature {
  size_t offset;
  std::string_view bytes;
  std::string_view what;
};

// Source: the formats' own specifications. Playlists count: they only name other files.
constexpr Signature kSignatures[] = {
    {0, "\xFF\xD8\xFF"sv, "a JPEG picture"},
    {0, "\x89PNG\r\n\x1A\n"sv, "a PNG picture"},
    {0, "GIF87a"sv, "a GIF picture"},
    {0, "GIF89a"sv, "a GIF picture"},
    {8, "WEBPVP8"sv, "a WebP picture"},
    {0, "II*\0"sv, "a TIFF picture"},
    {0, "MM\0*"sv, "a TIFF picture"},
    {4, "ftypavif"sv, "an AVIF picture"},
    {4, "ftypheic"sv, "a HEIC picture"},
    {0, "%PDF-"sv, "a PDF document"},
    {0, "PK\x03\x04"sv, "a ZIP archive or office document"},
    {0, "\x1F\x8B"sv, "gzip-compressed data"},
    {0, "BZh"sv, "bzip2-compressed data"},
    {0,
     "\xFD"
     "7zXZ\0"sv,
     "xz-compressed data"},
    {0, "\x28\xB5\x2F\xFD"sv, "zstd-compressed data"},
    {0, "7z\xBC\xAF\x27\x1C"sv, "a 7z archive"},
    {0, "Rar!\x1A\x07"sv, "a RAR archive"},
    {0,
     "\x7F"
     "ELF"sv,
     "a program"},
    {0, "SQLite format 3\0"sv, "an SQLite database"},
    {0, "GGUF"sv, "a model file"},
    {0, "lmgg"sv, "a model file"},
    {0, "#EXTM3U"sv, "a playlist"},
    {0, "ffconcat"sv, "a playlist"},
};

// NIST SPHERE recordings begin with a header of plain text.
constexpr std::string_view kTextualAudio = "NIST_1A\n";

bool is_text(std::string_view head) {
  constexpr size_t kEnough = 16;
  return head.size() >= kEnough && std::all_of(head.begin(), head.end(), [](char c) {
           const auto byte = static_cast<uint8_t>(c);
           return byte == '\t' || byte == '\n' || byte == '\r' || byte == '\f' || byte == 0x1B ||
                  (byte >= 0x20 && byte != 0x7F);
         });
}

// Bytes of UTF-8 sequences may be cut off at the end of `head`, but each lead byte must be followed
// by what it asks.
bool is_utf8(std::string_view head) {
  for (size_t i = 0; i < head.size();) {
    const auto lead = static_cast<uint8_t>(head[i]);
    const size_t length = lead < 0x80         ? 1
                          : (lead >> 5) == 6  ? 2
                          : (lead >> 4) == 14 ? 3
                          : (lead >> 3) == 30 ? 4
                                              : 0;
    if (length == 0) return false;
    for (size_t k = 1; k < length && i + k < head.size(); ++k) {
      if ((static_cast<uint8_t>(head[i + k]) >> 6) != 2) return false;
    }
    i += length;
  }
  return true;
}

}  // namespace

std::string_view describe_non_audio(std::span<const std::byte> head) {
  constexpr size_t kTextProbe = 512;
  const std::string_view bytes(reinterpret_cast<const char*>(head.data()), head.size());
  for (const Signature& s : kSignatures) {
    if (bytes.size() >= s.offset && bytes.substr(s.offset).starts_with(s.bytes)) return s.what;
  }
  const std::string_view start = bytes.substr(0, kTextProbe);
  if (start.starts_with(kTextualAudio) || !is_text(start) || !is_utf8(start)) return {};
  const size_t first = start.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && start[first] == '<') return "an HTML or XML document";
  return "plain text";
}

}  // namespace sotto::audio
