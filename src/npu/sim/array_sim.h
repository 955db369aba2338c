// Runs a design on the host: host buffers in, host buffers out. Every fifo, lock, buffer descriptor
// and access pattern of the lowered array is honoured; several launches follow one another without
// reset, as on the device.
#ifndef SOTTO_NPU_SIM_ARRAY_SIM_H_
#define SOTTO_NPU_SIM_ARRAY_SIM_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "npu/design/design.h"
#include "npu/design/lowered.h"
#include "npu/sim/kernel_table.h"
#include "sotto/status.h"

namespace sotto::npu {

/// What one launch did. Cycles are array cycles of the simulator's timing model: a stream moves one
/// word a cycle, a kernel takes what its table entry says, control operations what the generation's
/// facts say.
struct LaunchReport {
  double cycles = 0;
  int64_t ddr_bytes_read = 0;
  int64_t ddr_bytes_written = 0;
  int64_t stream_words = 0;  ///< Moved by all DMA engines, each broadcast counted once
  int64_t control_ops = 0;
  std::map<std::string, int64_t> kernel_calls;
  int peak_queue = 0;  ///< Most tasks queued at one shim channel
};

/// Faults carry the name of the rule at the front of their message: "deadlock: …", "uninitialised
/// read: …", "host bounds: …", "queue depth: …", "descriptor in flight: …", "left behind: …", "lock
/// value: …".
class ArraySim {
 public:
  /// `design`, `kernels` and `pool` must outlive the simulator. Every kernel that a program calls
  /// must be in the table.
  static Result<std::unique_ptr<ArraySim>> create(const Design& design, LoweredArray lowered,
                                                  const KernelTable& kernels, ThreadPool& pool);
  ~ArraySim();

  /// Executes an encoded instruction stream. buffers[i] is host argument i.
  Result<LaunchReport> launch(std::span<const uint32_t> words,
                              std::span<const std::span<std::byte>> buffers);
  /// Executes a sequence of the design from its description, without the encoding; the same bits
  /// result.
  Result<LaunchReport> launch(const Sequence& sequence,
                              std::span<const std::span<std::byte>> buffers);

 private:
  class Impl;
  explicit ArraySim(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sotto::npu

#endif  // SOTTO_NPU_SIM_ARRAY_SIM_H_
