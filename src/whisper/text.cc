#include "whisper/text.h"

#include <zlib.h>

#include <algorithm>
#include <vector>

#include "base/utf8.h"

namespace sotto::whisper {
namespace {

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  size_t begin = text.size();
  size_t end = 0;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = utf8_decode(text, at);
    if (!is_space(c.code)) {
      begin = std::min(begin, at);
      end = at + c.length;
    }
    at += c.length;
  }
  return begin < end ? text.substr(begin, end - begin) : std::string_view();
}

double compression_ratio(std::string_view text) {
  if (text.empty()) return 0;
  uLongf size = compressBound(static_cast<uLong>(text.size()));
  std::vector<Bytef> packed(size);
  const int error = compress(packed.data(), &size, reinterpret_cast<const Bytef*>(text.data()),
                             static_cast<uLong>(text.size()));
  if (error != Z_OK) return 0;  // Out of memory only: the output always fits
  return static_cast<double>(text.size()) / static_cast<double>(size);
}

}  // namespace sotto::whisper
