// Writes the bytes of small model files for tests, field by field, so that a test can also write a
// wrong one.
#ifndef SOTTO_MODELS_FORMATS_TESTING_MODEL_BYTES_H_
#define SOTTO_MODELS_FORMATS_TESTING_MODEL_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace sotto::models::testing {

class ByteWriter {
 public:
  template <typename T>
  ByteWriter& number(T value) {
    const size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
    return *this;
  }
  ByteWriter& u8(uint8_t v) { return number(v); }
  ByteWriter& u16(uint16_t v) { return number(v); }
  ByteWriter& u32(uint32_t v) { return number(v); }
  ByteWriter& u64(uint64_t v) { return number(v); }
  ByteWriter& i32(int32_t v) { return number(v); }
  ByteWriter& raw(std::string_view text) {
    for (const char c : text)
      bytes_.push_back(static_cast<std::byte>(c));
    return *this;
  }
  /// `count` bytes 0, 1, 2, … so that a view's place is visible in its content.
  ByteWriter& ramp(size_t count) {
    for (size_t i = 0; i < count; ++i)
      bytes_.push_back(static_cast<std::byte>(i));
    return *this;
  }
  ByteWriter& pad_to(size_t alignment) {
    while (bytes_.size() % alignment != 0)
      bytes_.push_back(std::byte{0});
    return *this;
  }
  /// CTranslate2: u16 length with the final NUL.
  ByteWriter& ct2_string(std::string_view text) {
    return u16(static_cast<uint16_t>(text.size() + 1)).raw(text).u8(0);
  }
  /// GGUF: u64 length.
  ByteWriter& gguf_string(std::string_view text) { return u64(text.size()).raw(text); }

  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
  [[nodiscard]] size_t size() const { return bytes_.size(); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace sotto::models::testing

#endif  // SOTTO_MODELS_FORMATS_TESTING_MODEL_BYTES_H_
