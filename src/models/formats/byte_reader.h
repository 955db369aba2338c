// A cursor over outside bytes: every read is checked against what is left, and failures say where
// and what.
#ifndef SOTTO_MODELS_FORMATS_BYTE_READER_H_
#define SOTTO_MODELS_FORMATS_BYTE_READER_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "sotto/status.h"

namespace sotto::models {

static_assert(std::endian::native == std::endian::little, "model files are little-endian");

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] uint64_t position() const { return position_; }
  [[nodiscard]] uint64_t left() const { return bytes_.size() - position_; }

  /// The next `count` bytes; kCorrupt naming `what` when fewer are left.
  Result<std::span<const std::byte>> take(uint64_t count, std::string_view what) {
    if (count > left()) return truncated(count, what);
    const auto part = bytes_.subspan(position_, count);
    position_ += count;
    return part;
  }

  /// A number of type T.
  template <typename T>
  Result<T> number(std::string_view what) {
    static_assert(std::is_arithmetic_v<T>);
    SOTTO_ASSIGN_OR_RETURN(const auto part, take(sizeof(T), what));
    T value;
    std::memcpy(&value, part.data(), sizeof(T));
    return value;
  }

  /// `length` bytes as text (not checked to be UTF-8).
  Result<std::string> text(uint64_t length, std::string_view what) {
    SOTTO_ASSIGN_OR_RETURN(const auto part, take(length, what));
    return std::string(reinterpret_cast<const char*>(part.data()), part.size());
  }

 private:
  [[nodiscard]] Status truncated(uint64_t count, std::string_view what) const {
    return corrupt("the file ends inside " + std::string(what) + ": " + std::to_string(count) +
                   " bytes are needed at offset " + std::to_string(position_) + ", " +
                   std::to_string(left()) + " are left (an incomplete download?)");
  }

  std::span<const std::byte> bytes_;
  uint64_t position_ = 0;
};

}  // namespace sotto::models

#endif  // SOTTO_MODELS_FORMATS_BYTE_READER_H_
