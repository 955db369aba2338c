// Executes one core's program, statement by statement, up to its next kernel call.
#ifndef SOTTO_NPU_SIM_CORE_ENGINE_H_
#define SOTTO_NPU_SIM_CORE_ENGINE_H_

#include <map>
#include <string>
#include <vector>

#include "npu/sim/dma.h"
#include "npu/sim/kernel_table.h"
#include "npu/sim/tile_state.h"

namespace sotto::npu::sim {

class CoreEngine {
 public:
  /// `array`, `design` and `kernels` outlive the engine.
  static Result<CoreEngine> create(const CoreProgram& program, const Design& design,
                                   const LoweredArray& array, const KernelTable& kernels,
                                   TileMemory& memory, Locks& locks);

  /// Runs until blocked or until a kernel call is prepared (then has_call()).
  Result<Turn> step();
  [[nodiscard]] bool has_call() const { return pending_.kernel != nullptr; }
  /// Runs the prepared call. Touches only this core's memory: calls of several cores may run at
  /// once.
  void run_call();
  /// Takes the result of the call into account.
  Status finish_call();
  [[nodiscard]] const std::string& call_name() const { return pending_.name; }

  [[nodiscard]] std::string waiting_for() const;
  void rewind() { time_ = 0; }
  [[nodiscard]] double time() const { return time_; }

 private:
  CoreEngine(TileMemory& memory, Locks& locks) : memory_(&memory), locks_(&locks) {}

  struct FifoEnd {  // Ring position of one fifo end; survives launches as core registers do
    const CoreFifoEnd* end = nullptr;
    std::vector<const PlacedBuffer*> buffers;
    size_t head = 0;  // First object held
    int held = 0;
  };
  struct Frame {
    const std::vector<Statement>* body = nullptr;
    size_t at = 0;
    const Loop* loop = nullptr;  // Null for the program's own body
    int64_t counter = 0, to = 0;
  };
  struct Pending {
    const SimKernel* kernel = nullptr;
    std::string name;
    std::vector<KernelArgument> arguments;
    Status result;
  };

  FifoEnd* fifo_end(const std::string& fifo, Port port);
  int64_t evaluate(const Bound& bound) const;
  Result<Turn> execute(const Statement& statement);  // kMoved: go on to the next statement
  Result<Turn> acquire(const Acquire& statement);
  Status release(const Release& statement);
  Status prepare_call(const Call& statement);
  bool enter(const Loop& loop);  // Pushes a frame when the loop runs at least once
  void advance();                // Past the current statement, closing finished loops
  [[nodiscard]] int64_t first_word(std::span<const std::byte> part) const;

  const CoreProgram* program_ = nullptr;
  const Design* design_ = nullptr;
  const LoweredArray* array_ = nullptr;
  const KernelTable* kernels_ = nullptr;
  TileMemory* memory_;
  Locks* locks_;
  std::vector<FifoEnd> ends_;
  std::vector<Frame> stack_;
  std::map<std::string, int64_t> values_;               // Loop counters and loaded words
  std::map<std::string, const PlacedBuffer*> objects_;  // Acquired objects
  Pending pending_;
  double time_ = 0;
};

}  // namespace sotto::npu::sim

#endif  // SOTTO_NPU_SIM_CORE_ENGINE_H_
