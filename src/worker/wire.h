// Structs as bytes between a worker process and its parent: one table a type, read strictly.
//
// Both ends are the same program on the same machine, so numbers are in its own byte order. Text is
// not JSON on purpose: tokens may hold parts of UTF-8 characters.
#ifndef SOTTO_WORKER_WIRE_H_
#define SOTTO_WORKER_WIRE_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// The table of a struct: ALL its members in the order of their declaration, given a second time
/// nowhere. A member that is missing or too many does not compile, because the list is also the
/// structured binding of the struct: add new members here, too.
#define SOTTO_WIRE_FIELDS(Type, ...)                                       \
  template <typename Archive, typename Object>                             \
  requires std::same_as<std::remove_const_t<Object>, Type>                 \
  void wire_fields(Archive& archive_of_fields, Object& object_of_fields) { \
    auto& [__VA_ARGS__] = object_of_fields;                                \
    archive_of_fields(__VA_ARGS__);                                        \
  }

namespace sotto::worker {

/// Number of values of an enum that crosses the wire, which count from 0. Specialised in
/// messages.h.
template <typename Enum>
constexpr int kWireEnumCount = 0;

template <typename T>
struct WireTraits {
  static constexpr bool kIsOptional = false, kIsVector = false, kIsMap = false, kIsPair = false;
};
template <typename T>
struct WireTraits<std::optional<T>> : WireTraits<void> {
  static constexpr bool kIsOptional = true;
};
template <typename T>
struct WireTraits<std::vector<T>> : WireTraits<void> {
  static constexpr bool kIsVector = true;
};
template <typename K, typename V>
struct WireTraits<std::map<K, V>> : WireTraits<void> {
  static constexpr bool kIsMap = true;
};
template <typename A, typename B>
struct WireTraits<std::pair<A, B>> : WireTraits<void> {
  static constexpr bool kIsPair = true;
};

class WireWriter {
 public:
  template <typename... Fields>
  void operator()(const Fields&... fields) {
    (put(fields), ...);
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  template <typename T>
  void put(const T& value) {
    using Traits = WireTraits<T>;
    if constexpr (std::is_enum_v<T>) {
      static_assert(kWireEnumCount<T> > 0, "give the enum a kWireEnumCount in worker/messages.h");
      put(static_cast<int32_t>(value));
    } else if constexpr (std::is_same_v<T, bool>) {
      put(static_cast<uint8_t>(value ? 1 : 0));
    } else if constexpr (std::is_arithmetic_v<T>) {
      char raw[sizeof(T)];
      std::memcpy(raw, &value, sizeof(T));
      bytes_.append(raw, sizeof(T));
    } else if constexpr (std::is_same_v<T, std::string>) {
      put(static_cast<uint64_t>(value.size()));
      bytes_.append(value);
    } else if constexpr (Traits::kIsOptional) {
      put(value.has_value());
      if (value.has_value()) put(*value);
    } else if constexpr (Traits::kIsVector || Traits::kIsMap) {
      put(static_cast<uint64_t>(value.size()));
      for (const auto& item : value)
        put(item);
    } else if constexpr (Traits::kIsPair) {
      put(value.first);
      put(value.second);
    } else {
      wire_fields(*this, value);
    }
  }

  std::string bytes_;
};

/// Reads what WireWriter wrote. After the first fault nothing more is read, and ok() is false.
class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename... Fields>
  void operator()(Fields&... fields) {
    (get(fields), ...);
  }
  [[nodiscard]] bool ok() const { return ok_; }
  /// Everything was read, and nothing was wrong.
  [[nodiscard]] bool finished() const { return ok_ && bytes_.empty(); }

 private:
  template <typename T>
  void get(T& value) {
    using Traits = WireTraits<T>;
    if (!ok_) return;
    if constexpr (std::is_enum_v<T>) {
      int32_t number = 0;
      get(number);
      if (number < 0 || number >= kWireEnumCount<T>) return fail();
      value = static_cast<T>(number);
    } else if constexpr (std::is_same_v<T, bool>) {
      uint8_t number = 0;
      get(number);
      if (number > 1) return fail();
      value = number == 1;
    } else if constexpr (std::is_arithmetic_v<T>) {
      if (bytes_.size() < sizeof(T)) return fail();
      std::memcpy(&value, bytes_.data(), sizeof(T));
      bytes_ = bytes_.subspan(sizeof(T));
    } else if constexpr (std::is_same_v<T, std::string>) {
      const size_t length = get_count();
      value.assign(reinterpret_cast<const char*>(bytes_.data()), length);
      bytes_ = bytes_.subspan(length);
    } else if constexpr (Traits::kIsOptional) {
      bool has_value = false;
      get(has_value);
      value.reset();
      if (ok_ && has_value) get(value.emplace());
    } else if constexpr (Traits::kIsVector) {
      value.clear();
      for (size_t left = get_count(); ok_ && left > 0; --left)
        get(value.emplace_back());
    } else if constexpr (Traits::kIsMap) {
      value.clear();
      for (size_t left = get_count(); ok_ && left > 0; --left) {
        std::pair<typename T::key_type, typename T::mapped_type> item;
        get(item);
        if (ok_ && !value.insert(std::move(item)).second) return fail();
      }
    } else if constexpr (Traits::kIsPair) {
      get(value.first);
      get(value.second);
    } else {
      wire_fields(*this, value);
    }
  }

  /// A number of bytes or items. Every item takes at least a byte, so that a false count can ask
  /// for no more memory than the message has bytes.
  size_t get_count() {
    uint64_t count = 0;
    get(count);
    if (ok_ && count > bytes_.size()) fail();
    return ok_ ? static_cast<size_t>(count) : 0;
  }
  void fail() { ok_ = false; }

  std::span<const std::byte> bytes_;
  bool ok_ = true;
};

}  // namespace sotto::worker

#endif  // SOTTO_WORKER_WIRE_H_
