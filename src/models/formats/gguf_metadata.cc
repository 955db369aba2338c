#include "models/formats/gguf_metadata.h"

#include <array>
#include <limits>
#include <utility>
#include <variant>

#include "models/formats/tensor_index.h"

namespace sotto::models {
namespace {

// Source: gguf_metadata_value_type of the specification.
enum ValueType : uint32_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kFloat32,
  kBool,
  kString,
  kArray,
  kUint64,
  kInt64,
  kFloat64,
  kTypeCount
};
constexpr std::array<uint64_t, kTypeCount> kMinBytes = {1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8};

constexpr uint64_t kMaxStringBytes = uint64_t{64}
                                     << 20;  // chat templates and embedded JSON stay far below
constexpr uint64_t kMaxElements = uint64_t{1}
                                  << 24;  // of all arrays of a file; vocabularies have about 2^18
constexpr int kMaxDepth = 4;

/// What an array becomes; monostate until its first leaf type is known.
using ArrayValue = std::variant<std::monostate, std::vector<int64_t>, std::vector<double>,
                                std::vector<std::string>>;

class MetadataReader {
 public:
  explicit MetadataReader(ByteReader& in) : in_(in) {}

  /// A value of type `type` that is not an array.
  Result<MetaValue> scalar(uint32_t type) {
    switch (type) {
      case kUint8:
        return as<uint8_t, uint64_t>();
      case kInt8:
        return as<int8_t, int64_t>();
      case kUint16:
        return as<uint16_t, uint64_t>();
      case kInt16:
        return as<int16_t, int64_t>();
      case kUint32:
        return as<uint32_t, uint64_t>();
      case kInt32:
        return as<int32_t, int64_t>();
      case kUint64:
        return as<uint64_t, uint64_t>();
      case kInt64:
        return as<int64_t, int64_t>();
      case kFloat32:
        return as<float, double>();
      case kFloat64:
        return as<double, double>();
      case kBool: {
        SOTTO_ASSIGN_OR_RETURN(const uint8_t value, in_.number<uint8_t>("a value"));
        if (value > 1) return corrupt("a boolean is " + std::to_string(value));
        return MetaValue(value == 1);
      }
      case kString: {
        SOTTO_ASSIGN_OR_RETURN(std::string text, read_gguf_string(in_, "a value", kMaxStringBytes));
        return MetaValue(std::move(text));
      }
      default:
        return corrupt("unknown value type " + std::to_string(type));
    }
  }

  Result<MetaValue> value(uint32_t type) {
    if (type != kArray) return scalar(type);
    ArrayValue array;
    SOTTO_RETURN_IF_ERROR(read_array(0, array));
    if (auto* ints = std::get_if<std::vector<int64_t>>(&array)) return MetaValue(std::move(*ints));
    if (auto* doubles = std::get_if<std::vector<double>>(&array))
      return MetaValue(std::move(*doubles));
    if (auto* strings = std::get_if<std::vector<std::string>>(&array))
      return MetaValue(std::move(*strings));
    return MetaValue(std::vector<int64_t>());  // an empty array of arrays
  }

 private:
  template <typename Stored, typename Kept>
  Result<MetaValue> as() {
    SOTTO_ASSIGN_OR_RETURN(const Stored value, in_.number<Stored>("a value"));
    return MetaValue(static_cast<Kept>(value));
  }

  Status read_array(int depth, ArrayValue& out) {
    if (depth == kMaxDepth)
      return corrupt("arrays are nested deeper than " + std::to_string(kMaxDepth) + " levels");
    SOTTO_ASSIGN_OR_RETURN(const uint32_t type, in_.number<uint32_t>("an array's type"));
    SOTTO_ASSIGN_OR_RETURN(const uint64_t count, in_.number<uint64_t>("an array's length"));
    if (type >= kTypeCount) return corrupt("an array has the unknown type " + std::to_string(type));
    if (count > in_.left() / kMinBytes[type]) {
      return corrupt("an array claims " + std::to_string(count) + " elements, but only " +
                     std::to_string(in_.left()) + " bytes are left (an incomplete download?)");
    }
    if (count > kMaxElements - elements_) {
      return corrupt("the metadata arrays have more than " + std::to_string(kMaxElements) +
                     " elements");
    }
    elements_ += count;
    for (uint64_t i = 0; i < count; ++i) {
      if (type == kArray) {
        SOTTO_RETURN_IF_ERROR(read_array(depth + 1, out));
      } else {
        SOTTO_RETURN_IF_ERROR(append_leaf(type, out));
      }
    }
    return type == kArray || count != 0 ? Status() : make_kind(type, out);
  }

  template <typename T>
  static Status append(T value, ArrayValue& out) {
    if (std::holds_alternative<std::monostate>(out)) out = std::vector<T>();
    auto* vector = std::get_if<std::vector<T>>(&out);
    if (vector == nullptr) return unsupported("a nested array mixes numbers, floats or strings");
    vector->push_back(std::move(value));
    return {};
  }

  Status append_leaf(uint32_t type, ArrayValue& out) {
    SOTTO_ASSIGN_OR_RETURN(MetaValue leaf, scalar(type));
    if (auto* text = std::get_if<std::string>(&leaf)) return append(std::move(*text), out);
    if (const auto* real = std::get_if<double>(&leaf)) return append(*real, out);
    if (const auto* flag = std::get_if<bool>(&leaf)) return append(int64_t{*flag}, out);
    if (const auto* number = std::get_if<int64_t>(&leaf)) return append(*number, out);
    const uint64_t number = std::get<uint64_t>(leaf);
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return unsupported("an array element is " + std::to_string(number));
    }
    return append(static_cast<int64_t>(number), out);
  }

  /// An empty array still has the kind of its type.
  static Status make_kind(uint32_t type, ArrayValue& out) {
    if (!std::holds_alternative<std::monostate>(out)) return {};
    if (type == kString) {
      out = std::vector<std::string>();
    } else if (type == kFloat32 || type == kFloat64) {
      out = std::vector<double>();
    } else {
      out = std::vector<int64_t>();
    }
    return {};
  }

  ByteReader& in_;
  uint64_t elements_ = 0;
};

}  // namespace

Result<std::string> read_gguf_string(ByteReader& in, std::string_view what, uint64_t max_bytes) {
  SOTTO_ASSIGN_OR_RETURN(const uint64_t length, in.number<uint64_t>(what));
  if (length > max_bytes)
    return corrupt(std::string(what) + " is " + std::to_string(length) + " bytes long");
  return in.text(length, what);
}

Status read_gguf_metadata(ByteReader& in, uint64_t count, ModelFile& out) {
  MetadataReader reader(in);
  for (uint64_t i = 0; i < count; ++i) {
    SOTTO_ASSIGN_OR_RETURN(
        std::string key, read_gguf_string(in, "metadata key " + std::to_string(i), kMaxNameBytes));
    const std::string context = "metadata key " + printable(key);
    SOTTO_ASSIGN_OR_RETURN(const uint32_t type, in.number<uint32_t>(context));
    Result<MetaValue> value = reader.value(type);
    if (!value.ok()) return value.status().with_context(context);
    if (!out.metadata.try_emplace(std::move(key), std::move(value).value()).second) {
      return corrupt(context + " occurs twice");
    }
  }
  return {};
}

}  // namespace sotto::models
