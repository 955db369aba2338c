// DMA engines: rings of descriptors in memory tiles and cores, task queues in shims.
#ifndef SOTTO_NPU_SIM_DMA_H_
#define SOTTO_NPU_SIM_DMA_H_

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "npu/sim/tile_state.h"

namespace sotto::npu::sim {

/// What an engine did when it was given a turn.
enum class Turn { kBlocked, kMoved };

/// Collects words that arrive in pieces until a transfer is complete.
class Receiver {
 public:
  /// Takes up to what is still missing of `length` words from `end`; true when complete.
  bool take(StreamEnd& end, int64_t length, double& time);
  [[nodiscard]] std::span<const uint32_t> words() const { return buffer_; }
  [[nodiscard]] bool partial() const { return !buffer_.empty(); }
  void clear() { buffer_.clear(); }

 private:
  std::vector<uint32_t> buffer_;
};

/// One channel of a memory tile or core: walks its ring of descriptors for ever.
class TileDma {
 public:
  TileDma(std::vector<const BufferDescriptor*> ring, TileMemory& memory, Locks& locks,
          Streams& streams);
  Result<Turn> step();
  [[nodiscard]] std::string waiting_for() const;
  [[nodiscard]] bool idle() const { return !holds_ && !receiver_.partial(); }
  void rewind() { time_ = 0; }
  [[nodiscard]] double time() const { return time_; }
  [[nodiscard]] int64_t words_sent() const { return words_sent_; }

 private:
  Result<Turn> transfer(const BufferDescriptor& bd);

  std::vector<const BufferDescriptor*> ring_;  ///< In chain order
  size_t at_ = 0;
  bool holds_ = false;  ///< The descriptor's lock is acquired
  TileMemory& memory_;
  Locks& locks_;
  Streams& streams_;
  Receiver receiver_;
  double time_ = 0;
  int64_t words_sent_ = 0;
};

/// One queued transfer of a shim, decoded.
struct ShimTask {
  int argument = 0;
  int64_t base_word = 0;  ///< Of the first repetition, in the host buffer
  int64_t length_words = 0;
  std::vector<WordDim> walk;  ///< Innermost first; empty: linear
  int repetitions = 1;
  int iteration_size = 1;        ///< The address advance wraps after this many repetitions
  int64_t iteration_stride = 0;  ///< Words
  bool token = false;
  int descriptor = -1;  ///< Its id, while it is queued
  double queued = 0;    ///< Cycle
};

struct DdrTraffic {
  int64_t read_bytes = 0, written_bytes = 0;
};

/// One channel of a shim: runs queued tasks in order against host buffers.
class ShimDma {
 public:
  ShimDma(ShimChannel channel, Streams& streams, double first_access_cycles);
  void push(ShimTask task) { queue_.push_back(std::move(task)); }
  Result<Turn> step(std::span<const std::span<std::byte>> buffers, DdrTraffic& traffic);

  [[nodiscard]] const std::deque<ShimTask>& queue() const { return queue_; }
  [[nodiscard]] const ShimChannel& channel() const { return channel_; }
  [[nodiscard]] int tokens() const { return static_cast<int>(tokens_.size()); }
  /// Takes the oldest token; its time is when the task completed.
  double take_token();
  [[nodiscard]] std::string waiting_for() const;
  void rewind() { time_ = 0; }
  [[nodiscard]] double time() const { return time_; }
  [[nodiscard]] int64_t words_sent() const { return words_sent_; }

 private:
  ShimChannel channel_;
  Streams& streams_;
  double first_access_cycles_;
  std::deque<ShimTask> queue_;
  std::deque<double> tokens_;
  int repetition_ = 0;
  Receiver receiver_;
  double time_ = 0;
  int64_t words_sent_ = 0;
};

}  // namespace sotto::npu::sim

#endif  // SOTTO_NPU_SIM_DMA_H_
