// State of the simulated array that several engines share: tile memories, locks and streams.
#ifndef SOTTO_NPU_SIM_TILE_STATE_H_
#define SOTTO_NPU_SIM_TILE_STATE_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "npu/design/lowered.h"
#include "sotto/status.h"

namespace sotto::npu::sim {

/// Data memory of one tile and which of its words have been written since power-up.
class TileMemory {
 public:
  explicit TileMemory(int64_t bytes)
      : words_(static_cast<size_t>(bytes / 4)), written_(static_cast<size_t>(bytes / 4)) {}

  [[nodiscard]] uint32_t* words() { return words_.data(); }
  [[nodiscard]] int64_t size_words() const { return static_cast<int64_t>(words_.size()); }
  [[nodiscard]] std::span<std::byte> bytes(int64_t address, int64_t count) {
    return std::as_writable_bytes(std::span(words_))
        .subspan(static_cast<size_t>(address), static_cast<size_t>(count));
  }
  void mark_written(int64_t first_word, int64_t count) {
    std::memset(written_.data() + first_word, 1, static_cast<size_t>(count));
  }
  /// First word of [first, first + count) that was never written, or -1.
  [[nodiscard]] int64_t first_unwritten(int64_t first, int64_t count) const {
    const auto begin = written_.begin() + first;
    const auto it = std::find(begin, begin + count, uint8_t{0});
    return it == begin + count ? -1 : it - written_.begin();
  }

 private:
  std::vector<uint32_t> words_;
  std::vector<uint8_t> written_;
};

/// A counting lock; remembers when each unit was released, so that waiting costs simulated time.
struct LockState {
  int value = 0;
  std::deque<double> released;  ///< One time a unit
};

class Locks {
 public:
  explicit Locks(int value_max) : value_max_(value_max) {}

  void set(Tile tile, int id, int value, double time) {
    LockState& lock = locks_[{tile, id}];
    lock.value = value;
    lock.released.assign(static_cast<size_t>(value), time);
  }
  /// Takes `count` units; false when there are too few. `time` becomes at least the release of the
  /// last one taken.
  bool acquire(Tile tile, int id, int count, double& time) {
    LockState& lock = locks_[{tile, id}];
    if (lock.value < count) return false;
    lock.value -= count;
    for (int i = 0; i < count; ++i) {
      time = std::max(time, lock.released.front());
      lock.released.pop_front();
    }
    return true;
  }
  Status release(Tile tile, int id, int count, double time) {
    LockState& lock = locks_[{tile, id}];
    lock.value += count;
    for (int i = 0; i < count; ++i)
      lock.released.push_back(time);
    if (lock.value <= value_max_) return {};
    return internal_error("lock value: lock " + std::to_string(id) + " of " + tile_name(tile) +
                          " rises to " + std::to_string(lock.value) + ", its field holds " +
                          std::to_string(value_max_));
  }
  [[nodiscard]] int value(Tile tile, int id) const {
    const auto it = locks_.find({tile, id});
    return it == locks_.end() ? 0 : it->second.value;
  }
  [[nodiscard]] std::map<std::pair<Tile, int>, int> values() const {
    std::map<std::pair<Tile, int>, int> out;
    for (const auto& [key, lock] : locks_)
      out[key] = lock.value;
    return out;
  }
  /// Moves every release to time 0: the next launch starts its own clock.
  void rewind() {
    for (auto& entry : locks_)
      std::fill(entry.second.released.begin(), entry.second.released.end(), 0.0);
  }

 private:
  int value_max_;
  std::map<std::pair<Tile, int>, LockState> locks_;
};

/// Words of one transfer on their way; a broadcast shares them.
struct Message {
  std::shared_ptr<const std::vector<uint32_t>> words;
  size_t taken = 0;    ///< Already received
  double arrival = 0;  ///< Cycle at which the last word is there
};

/// The receiving end of a connection. The hardware holds a few words per switch; here a sender may
/// start its next transfer when the one before has been taken, so at most one transfer is between
/// two memories.
struct StreamEnd {
  std::deque<Message> messages;
  [[nodiscard]] bool accepts() const { return messages.empty(); }
  [[nodiscard]] int64_t waiting_words() const {
    int64_t n = 0;
    for (const Message& m : messages)
      n += static_cast<int64_t>(m.words->size() - m.taken);
    return n;
  }
};

/// Connections of the array, from a sender's port to its receivers.
class Streams {
 public:
  explicit Streams(const std::vector<Flow>& flows) {
    for (const Flow& flow : flows)
      routes_[flow.from].push_back(flow.to);
  }
  /// False when a receiver still holds an earlier transfer, or the port leads nowhere.
  [[nodiscard]] bool ready(DmaPort from) const {
    const auto it = routes_.find(from);
    if (it == routes_.end()) return false;
    return std::all_of(it->second.begin(), it->second.end(), [&](DmaPort to) {
      const auto end = ends_.find(to);
      return end == ends_.end() || end->second.accepts();
    });
  }
  void send(DmaPort from, std::shared_ptr<const std::vector<uint32_t>> words, double arrival) {
    for (const DmaPort to : routes_.at(from))
      ends_[to].messages.push_back({words, 0, arrival});
  }
  StreamEnd& end(DmaPort to) { return ends_[to]; }
  [[nodiscard]] const std::map<DmaPort, StreamEnd>& ends() const { return ends_; }

 private:
  std::map<DmaPort, std::vector<DmaPort>> routes_;
  std::map<DmaPort, StreamEnd> ends_;
};

/// Visits the word addresses of a walk (innermost dimension first; empty: linear) as runs of
/// consecutive words.
template <typename Visit>
void for_each_run(const std::vector<WordDim>& dims, int64_t length, Visit visit) {
  if (dims.empty()) {
    visit(int64_t{0}, length);
    return;
  }
  // The innermost run is one piece when its stride is 1.
  const bool piece = dims[0].stride == 1;
  const int64_t run = piece ? dims[0].size : 1;
  const size_t first = piece ? 1 : 0;
  std::vector<int64_t> index(dims.size(), 0);
  int64_t base = 0;
  for (int64_t done = 0; done < length;) {
    visit(base, std::min(run, length - done));
    done += run;
    for (size_t d = first; d < dims.size(); ++d) {
      base += dims[d].stride;
      if (++index[d] < dims[d].size) break;
      base -= index[d] * dims[d].stride;
      index[d] = 0;
    }
  }
}

/// Lowest and highest word that a walk touches, relative to its start.
inline std::pair<int64_t, int64_t> walk_bounds(const std::vector<WordDim>& dims, int64_t length) {
  if (dims.empty()) return {0, length - 1};
  int64_t low = 0;
  int64_t high = 0;
  for (const WordDim& dim : dims)
    (dim.stride < 0 ? low : high) += (dim.size - 1) * dim.stride;
  return {low, high};
}

}  // namespace sotto::npu::sim

#endif  // SOTTO_NPU_SIM_TILE_STATE_H_
