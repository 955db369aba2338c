#include "tokenizer/load/byte_alphabet.h"

#include <array>

#include "base/utf8.h"

namespace sotto::tokenizer {
namespace {

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr size_t kCharacters = 0x100 + 68;

/// Byte of each character of the alphabet, -1 for other characters.
constexpr std::array<int, kCharacters> kByteOf = [] {
  std::array<int, kCharacters> bytes{};
  size_t next = 0x100;
  for (unsigned byte = 0; byte < 0x100; ++byte) {
    if (stands_for_itself(byte)) {
      bytes[byte] = static_cast<int>(byte);
    } else {
      bytes[byte] = -1;
      bytes[next++] = static_cast<int>(byte);
    }
  }
  return bytes;
}();

}  // namespace

std::optional<std::string> bytes_of_alphabet(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size();) {
    const Utf8Char c = utf8_decode(text, i);
    if (!c.valid || c.code >= kCharacters || kByteOf[c.code] < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(kByteOf[c.code]));
    i += c.length;
  }
  return bytes;
}

std::string alphabet_of_bytes(std::string_view bytes) {
  static constexpr std::array<char32_t, 256> kCharacterOf = [] {
    std::array<char32_t, 256> characters{};
    for (size_t c = 0; c < kCharacters; ++c) {
      if (kByteOf[c] >= 0) characters[static_cast<size_t>(kByteOf[c])] = static_cast<char32_t>(c);
    }
    return characters;
  }();
  std::string text;
  for (const char byte : bytes)
    utf8_append(kCharacterOf[static_cast<unsigned char>(byte)], text);
  return text;
}

}  // namespace sotto::tokenizer
