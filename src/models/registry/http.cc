#include "models/registry/http.h"

#include <algorithm>
#include <charconv>

#include "models/registry/sha256.h"

namespace sotto::registry {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_name(std::string_view a, std::string_view lower_case) {
  if (a.size() != lower_case.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower_case[i]) return false;
  }
  return true;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// A whole non-negative number, or -1.
int64_t number(std::string_view text) {
  int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0 ? value : -1;
}

/// The SHA-256 in an entity tag: the hub's tag of a large file is its sum. "" for other tags.
std::string sum_in_tag(std::string_view tag) {
  if (tag.starts_with("W/")) tag.remove_prefix(2);
  if (tag.size() >= 2 && tag.front() == '"' && tag.back() == '"')
    tag = tag.substr(1, tag.size() - 2);
  return is_sha256_hex(tag) ? std::string(tag) : "";
}

}  // namespace

void HeaderParser::add_line(std::string_view line) {
  line = trimmed(line);
  if (line.starts_with("HTTP/")) {
    ++answers_;
    content_length_ = range_first_ = range_total_ = -1;
    retry_after_s_ = -1;
    const size_t space = line.find(' ');
    status_ = 0;
    if (space != std::string_view::npos) {
      status_ = static_cast<int>(number(line.substr(space + 1, 3)));
    }
    return;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view name = line.substr(0, colon), value = trimmed(line.substr(colon + 1));
  if (same_name(name, "content-length")) {
    content_length_ = number(value);
  } else if (same_name(name, "content-range")) {  // "bytes FIRST-LAST/TOTAL" or "bytes */TOTAL"
    constexpr std::string_view kUnit = "bytes ";
    const size_t slash = value.find('/');
    if (!value.starts_with(kUnit) || slash == std::string_view::npos) return;
    const std::string_view range = value.substr(kUnit.size(), slash - kUnit.size());
    range_first_ = number(range.substr(0, range.find('-')));
    range_total_ = number(value.substr(slash + 1));
  } else if (same_name(name, "x-linked-size")) {
    linked_size_ = number(value);
  } else if (same_name(name, "x-linked-etag")) {
    if (std::string sum = sum_in_tag(value); !sum.empty()) sha256_ = std::move(sum);
  } else if (same_name(name, "etag")) {
    // Only the hub's own answer: a download server behind it tags files by rules of its own.
    if (answers_ == 1 && sha256_.empty()) sha256_ = sum_in_tag(value);
  } else if (same_name(name, "retry-after")) {
    constexpr int64_t kLongest = 3600;
    const int64_t seconds = number(value);
    if (seconds >= 0) retry_after_s_ = static_cast<int>(std::min(seconds, kLongest));
  }
}

HttpHeaders HeaderParser::headers(int64_t offset) const {
  constexpr int kPartialContent = 206;
  HttpHeaders headers;
  headers.status = status_;
  headers.sha256 = sha256_;
  if (status_ == kPartialContent) {
    headers.first = offset;
    headers.total = range_total_;
    if (headers.total < 0 && content_length_ >= 0) headers.total = offset + content_length_;
  } else {
    headers.total = content_length_;
  }
  if (headers.total < 0) headers.total = linked_size_;
  return headers;
}

bool HeaderParser::range_fits(int64_t offset) const {
  constexpr int kPartialContent = 206;
  return status_ != kPartialContent || range_first_ == offset;
}

std::string encode_url_path(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~' || c == '/';
    if (plain) {
      result += c;
    } else {
      result += '%';
      result += kDigits[byte >> 4U];
      result += kDigits[byte & 15U];
    }
  }
  return result;
}

std::string url_origin(std::string_view url) {
  const size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) return std::string(url);
  return std::string(url.substr(0, url.find('/', scheme_end + 3)));
}

}  // namespace sotto::registry
