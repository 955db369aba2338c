#include "base/dtype.h"

#include <array>
#include <limits>

namespace sotto {
namespace {

// In the order of the enum.
constexpr std::array<DTypeInfo, 22> kInfo = {{
    {"f32", 1, 4},      {"f16", 1, 2},      {"bf16", 1, 2},     {"f64", 1, 8},
    {"i8", 1, 1},       {"i16", 1, 2},      {"i32", 1, 4},      {"i64", 1, 8},
    {"u8", 1, 1},       {"bool", 1, 1},     {"q4_0", 32, 18},   {"q4_1", 32, 20},
    {"q5_0", 32, 22},   {"q5_1", 32, 24},   {"q8_0", 32, 34},   {"q2_k", 256, 84},
    {"q3_k", 256, 110}, {"q4_k", 256, 144}, {"q5_k", 256, 176}, {"q6_k", 256, 210},
    {"q8_k", 256, 292}, {"mxfp4", 32, 17},
}};

}  // namespace

const DTypeInfo& dtype_info(DType type) {
  return kInfo[static_cast<size_t>(type)];
}

int64_t dtype_bytes(DType type, int64_t elements) {
  const DTypeInfo& info = dtype_info(type);
  if (elements < 0 || elements % info.block_elements != 0) return -1;
  const int64_t blocks = elements / info.block_elements;
  if (blocks > std::numeric_limits<int64_t>::max() / info.block_bytes) return -1;
  return blocks * info.block_bytes;
}

}  // namespace sotto
