#include "npu/design/design.h"

#include <algorithm>

namespace sotto::npu {
namespace {

template <typename T>
const T* find_named(const std::vector<T>& items, std::string_view name) {
  const auto it =
      std::find_if(items.begin(), items.end(), [&](const T& item) { return item.name == name; });
  return it == items.end() ? nullptr : &*it;
}

}  // namespace

TileKind tile_kind(Tile tile) {
  if (tile.row == 0) return TileKind::kShim;
  return tile.row == 1 ? TileKind::kMem : TileKind::kCore;
}

std::string tile_name(Tile tile) {
  const TileKind kind = tile_kind(tile);
  const char* prefix = kind == TileKind::kShim ? "shim" : kind == TileKind::kMem ? "mem" : "core";
  return std::string(prefix) + "(" + std::to_string(tile.col) + "," + std::to_string(tile.row) +
         ")";
}

int element_bytes(ElementType type) {
  switch (type) {
    case ElementType::kF32:
    case ElementType::kI32:
      return 4;
    case ElementType::kBf16:
    case ElementType::kI16:
      return 2;
    case ElementType::kI8:
      return 1;
  }
  return 0;
}

std::string_view element_name(ElementType type) {
  switch (type) {
    case ElementType::kF32:
      return "f32";
    case ElementType::kI32:
      return "i32";
    case ElementType::kBf16:
      return "bf16";
    case ElementType::kI16:
      return "i16";
    case ElementType::kI8:
      return "i8";
  }
  return "?";
}

int64_t ObjectType::elements() const {
  int64_t n = 1;
  for (const int64_t extent : shape)
    n *= extent;
  return n;
}

const ObjectFifo* Design::fifo(std::string_view fifo_name) const {
  return find_named(fifos, fifo_name);
}
const Sequence* Design::sequence(std::string_view sequence_name) const {
  return find_named(sequences, sequence_name);
}
const Kernel* Design::kernel(std::string_view kernel_name) const {
  return find_named(kernels, kernel_name);
}
const Buffer* Design::buffer(std::string_view buffer_name) const {
  return find_named(buffers, buffer_name);
}
const Lock* Design::lock(std::string_view lock_name) const {
  return find_named(locks, lock_name);
}

}  // namespace sotto::npu
