// What the control processor does in one launch, from an encoded stream or from a sequence's
// description.
#ifndef SOTTO_NPU_SIM_CONTROL_H_
#define SOTTO_NPU_SIM_CONTROL_H_

#include <span>
#include <variant>
#include <vector>

#include "npu/design/lowered.h"
#include "npu/sim/dma.h"
#include "npu/txn/stream.h"

namespace sotto::npu::sim {

/// Writes a shim descriptor: its slot is in use until the task that runs it is done.
struct ConfigureDescriptor {
  Tile tile;
  int id = 0;
};
struct QueueTask {
  ShimChannel channel;
  ShimTask task;
};
struct WaitToken {
  ShimChannel channel;
};
struct WriteTileWord {
  Tile tile;
  int64_t address = 0;  ///< Bytes in data memory
  uint32_t value = 0;
};
struct WriteLock {
  Tile tile;
  int id = 0;
  int value = 0;
};
using ControlAction =
    std::variant<ConfigureDescriptor, QueueTask, WaitToken, WriteTileWord, WriteLock>;

struct ControlStep {
  ControlAction action;
  double cycles = 0;  ///< What the control processor spends on it
};

/// From instruction words. Everything the array does not have is an error.
Result<std::vector<ControlStep>> control_from_words(std::span<const uint32_t> words,
                                                    const Generation& generation);
/// From the description, without going through the encoding.
Result<std::vector<ControlStep>> control_from_sequence(const Sequence& sequence,
                                                       const LoweredArray& array);

}  // namespace sotto::npu::sim

#endif  // SOTTO_NPU_SIM_CONTROL_H_
