// Element types of tensors in model files and in memory, and a view of a tensor's bytes.
#ifndef SOTTO_BASE_DTYPE_H_
#define SOTTO_BASE_DTYPE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sotto {

/// Storage of one tensor element, or of one block for the ggml block formats.
/// Source of block layouts: ggml-org/ggml, docs/gguf.md and the type table of its header.
enum class DType {
  kF32,
  kF16,
  kBf16,
  kF64,
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kBool,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ8_0,  // 32 elements a block
  kQ2K,
  kQ3K,
  kQ4K,
  kQ5K,
  kQ6K,
  kQ8K,    // 256 elements a block
  kMxfp4,  // 32 elements a block
};

struct DTypeInfo {
  std::string_view name;  ///< "f32", "q4_0", …
  int block_elements;     ///< 1 for plain types
  int block_bytes;
};

/// Name and block geometry of `type`.
const DTypeInfo& dtype_info(DType type);

/// Bytes of `elements` elements of `type` (a multiple of its block), or -1 when it is no multiple
/// or overflows.
int64_t dtype_bytes(DType type, int64_t elements);

/// A tensor as it lies in a (mapped) file. Row-major, outermost dimension first; not owning.
struct TensorView {
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;  ///< [] is a scalar
  std::span<const std::byte>
      bytes;  ///< Exactly dtype_bytes(dtype, elements()) of them; may be unaligned
  std::span<const std::byte>
      row_scales;  ///< f32 per outermost row for CTranslate2's int8 (value = q / scale); else empty

  [[nodiscard]] int64_t elements() const {
    int64_t n = 1;
    for (int64_t d : dims)
      n *= d;
    return n;
  }
  [[nodiscard]] int64_t rows() const { return dims.empty() ? 1 : dims[0]; }
  [[nodiscard]] int64_t row_elements() const { return rows() == 0 ? 0 : elements() / rows(); }
};

}  // namespace sotto

#endif  // SOTTO_BASE_DTYPE_H_
