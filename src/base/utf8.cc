#include "base/utf8.h"

#include <algorithm>
#include <utility>

namespace sotto {
namespace {

unsigned char byte_at(std::string_view text, size_t position) {
  return static_cast<unsigned char>(text[position]);
}

bool is_continuation(unsigned char byte) {
  return (byte & 0xC0U) == 0x80U;
}

/// What a lead byte promises: total length (0: not a lead byte) and the range of the second byte,
/// which is where overlong forms, surrogates and codes above U+10FFFF are ruled out.
struct Lead {
  size_t length = 0;
  unsigned char second_min = 0x80;
  unsigned char second_max = 0xBF;
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2) return {0};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0};
}

/// Bytes of the longest correct beginning of a character at `position`; complete when it equals the
/// lead's length.
size_t well_formed_bytes(std::string_view text, size_t position, const Lead& lead) {
  const size_t end = std::min(text.size(), position + lead.length);
  size_t at = position + 1;
  if (at < end && (byte_at(text, at) < lead.second_min || byte_at(text, at) > lead.second_max))
    return 1;
  while (at < end && is_continuation(byte_at(text, at)))
    ++at;
  return at - position;
}

}  // namespace

Utf8Char utf8_decode(std::string_view text, size_t position) {
  const unsigned char first = byte_at(text, position);
  if (first < 0x80) return {first, 1, true};
  const Lead lead = lead_of(first);
  if (lead.length == 0) return {};
  const size_t length = well_formed_bytes(text, position, lead);
  if (length < lead.length) return {0xFFFD, length, false};
  char32_t code = first & (0x7FU >> lead.length);
  for (size_t i = 1; i < length; ++i)
    code = (code << 6U) | (byte_at(text, position + i) & 0x3FU);
  return {code, length, true};
}

void utf8_append(char32_t code, std::string& out) {
  if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) code = 0xFFFD;
  const auto put = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6U));
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12U));
    put(0x80 | ((code >> 6U) & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | (code >> 18U));
    put(0x80 | ((code >> 12U) & 0x3F));
    put(0x80 | ((code >> 6U) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

bool utf8_valid(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const Utf8Char c = utf8_decode(text, i);
    if (!c.valid) return false;
    i += c.length;
  }
  return true;
}

std::string utf8_repair(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const Utf8Char c = utf8_decode(text, i);
    if (c.valid) {
      out.append(text, i, c.length);
    } else {
      utf8_append(0xFFFD, out);
    }
    i += c.length;
  }
  return out;
}

size_t utf8_length(std::string_view text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++count)
    i += utf8_decode(text, i).length;
  return count;
}

size_t utf8_complete_prefix(std::string_view text) {
  // A character has at most 4 bytes, so an unfinished one starts in the last 3.
  const size_t first = text.size() > 3 ? text.size() - 3 : 0;
  for (size_t i = text.size(); i-- > first;) {
    const unsigned char byte = byte_at(text, i);
    if (is_continuation(byte)) continue;
    const Lead lead = lead_of(byte);
    const bool unfinished =
        lead.length > text.size() - i && well_formed_bytes(text, i, lead) == text.size() - i;
    return unfinished ? i : text.size();
  }
  return text.size();
}

std::string Utf8Stream::feed(std::string_view bytes) {
  pending_.append(bytes);
  const size_t complete = utf8_complete_prefix(pending_);
  std::string out = utf8_repair(std::string_view(pending_).substr(0, complete));
  pending_.erase(0, complete);
  return out;
}

std::string Utf8Stream::flush() {
  return utf8_repair(std::exchange(pending_, {}));
}

}  // namespace sotto
