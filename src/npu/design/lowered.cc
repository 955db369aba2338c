#include "npu/design/lowered.h"

#include <algorithm>

namespace sotto::npu {

const PlacedBuffer* LoweredArray::buffer(const std::string& name) const {
  const auto it = std::find_if(buffers.begin(), buffers.end(),
                               [&](const PlacedBuffer& b) { return b.name == name; });
  return it == buffers.end() ? nullptr : &*it;
}

const Lock* LoweredArray::lock(const std::string& name) const {
  const auto it =
      std::find_if(locks.begin(), locks.end(), [&](const Lock& l) { return l.name == name; });
  return it == locks.end() ? nullptr : &*it;
}

}  // namespace sotto::npu
