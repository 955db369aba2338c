#include "transcript/json_writer.h"

#include <fmt/format.h>

#include <utility>

namespace sotto::transcript {

void JsonWriter::break_line(size_t depth) {
  if (style_.indent.empty()) return;
  text_ += '\n';
  for (size_t i = 0; i < depth; ++i)
    text_ += style_.indent;
}

void JsonWriter::separate() {
  if (std::exchange(after_key_, false) || has_members_.empty()) return;
  if (has_members_.back()) text_ += style_.comma;
  has_members_.back() = true;
  break_line(has_members_.size());
}

void JsonWriter::begin(char bracket) {
  separate();
  text_ += bracket;
  has_members_.push_back(false);
}

void JsonWriter::end(char bracket) {
  const bool any = has_members_.back();
  has_members_.pop_back();
  if (any || style_.open_empty) break_line(has_members_.size());
  text_ += bracket;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  string(name);
  text_ += style_.colon;
  after_key_ = true;
  return *this;
}

void JsonWriter::string(std::string_view value) {
  separate();
  text_ += '"';
  for (const char c : value) {
    switch (c) {
      case '"':
        text_ += "\\\"";
        break;
      case '\\':
        text_ += "\\\\";
        break;
      case '\n':
        text_ += "\\n";
        break;
      case '\r':
        text_ += "\\r";
        break;
      case '\t':
        text_ += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          text_ += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
          text_ += c;
        }
    }
  }
  text_ += '"';
}

void JsonWriter::integer(int64_t value) {
  separate();
  text_ += std::to_string(value);
}

void JsonWriter::boolean(bool value) {
  separate();
  text_ += value ? "true" : "false";
}

void JsonWriter::decimal(double value, int digits) {
  separate();
  std::string number = fmt::format("{:.{}f}", value, digits);
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number += '0';
  text_ += number == "-0.0" ? "0.0" : number;
}

void JsonWriter::general(double value) {
  separate();
  text_ += fmt::format("{:g}", value);
}

std::string JsonWriter::take() {
  return std::exchange(text_, {}) + '\n';
}

}  // namespace sotto::transcript
