#include "npu/sim/dma.h"

#include <algorithm>
#include <utility>

namespace sotto::npu::sim {
namespace {

const char* direction_name(DmaDirection direction) {
  return direction == DmaDirection::kS2mm ? "S2MM" : "MM2S";
}

std::shared_ptr<std::vector<uint32_t>> gather(const uint32_t* base,
                                              const std::vector<WordDim>& walk, int64_t length) {
  auto words = std::make_shared<std::vector<uint32_t>>(static_cast<size_t>(length));
  uint32_t* out = words->data();
  for_each_run(walk, length, [&](int64_t at, int64_t run) {
    std::memcpy(out, base + at, static_cast<size_t>(run) * 4);
    out += run;
  });
  return words;
}

void scatter(std::span<const uint32_t> words, uint32_t* base, const std::vector<WordDim>& walk) {
  const uint32_t* in = words.data();
  for_each_run(walk, static_cast<int64_t>(words.size()), [&](int64_t at, int64_t run) {
    std::memcpy(base + at, in, static_cast<size_t>(run) * 4);
    in += run;
  });
}

}  // namespace

bool Receiver::take(StreamEnd& end, int64_t length, double& time) {
  while (static_cast<int64_t>(buffer_.size()) < length && !end.messages.empty()) {
    Message& message = end.messages.front();
    const size_t missing = static_cast<size_t>(length) - buffer_.size();
    const size_t count = std::min(missing, message.words->size() - message.taken);
    const auto begin = message.words->begin() + static_cast<std::ptrdiff_t>(message.taken);
    buffer_.insert(buffer_.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
    time = std::max(time, message.arrival);
    message.taken += count;
    if (message.taken == message.words->size()) end.messages.pop_front();
  }
  return static_cast<int64_t>(buffer_.size()) == length;
}

// ---- Memory tiles and cores
// -----------------------------------------------------------------------

TileDma::TileDma(std::vector<const BufferDescriptor*> ring, TileMemory& memory, Locks& locks,
                 Streams& streams)
    : ring_(std::move(ring)), memory_(memory), locks_(locks), streams_(streams) {}

Result<Turn> TileDma::step() {
  const BufferDescriptor& bd = *ring_[at_];
  bool moved = false;
  if (!holds_) {
    if (!locks_.acquire(bd.tile, bd.acquire.id, bd.acquire.value, time_)) return Turn::kBlocked;
    holds_ = true;
    moved = true;
  }
  SOTTO_ASSIGN_OR_RETURN(const Turn turn, transfer(bd));
  if (turn == Turn::kBlocked) return moved ? Turn::kMoved : Turn::kBlocked;
  SOTTO_RETURN_IF_ERROR(locks_.release(bd.tile, bd.release.id, bd.release.value, time_));
  holds_ = false;
  at_ = (at_ + 1) % ring_.size();
  return Turn::kMoved;
}

Result<Turn> TileDma::transfer(const BufferDescriptor& bd) {
  const int64_t base = bd.base_bytes / 4;
  const auto [low, high] = walk_bounds(bd.words, bd.length_words);
  if (base + low < 0 || base + high >= memory_.size_words()) {
    return internal_error("tile bounds: descriptor " + std::to_string(bd.id) + " of " +
                          tile_name(bd.tile) + " reaches word " + std::to_string(base + high) +
                          " of " + std::to_string(memory_.size_words()));
  }
  uint32_t* memory = memory_.words() + base;
  if (bd.direction == DmaDirection::kMm2s) {
    const DmaPort port{bd.tile, bd.channel};
    if (!streams_.ready(port)) return Turn::kBlocked;
    if (const int64_t word = memory_.first_unwritten(base + low, high - low + 1); word >= 0) {
      return internal_error("uninitialised read: descriptor " + std::to_string(bd.id) + " of " +
                            tile_name(bd.tile) + " sends word " + std::to_string(word) + " of " +
                            bd.buffer + ", which nothing wrote");
    }
    time_ += static_cast<double>(bd.length_words);
    words_sent_ += bd.length_words;
    streams_.send(port, gather(memory, bd.words, bd.length_words), time_);
    return Turn::kMoved;
  }
  if (!receiver_.take(streams_.end({bd.tile, bd.channel}), bd.length_words, time_))
    return Turn::kBlocked;
  scatter(receiver_.words(), memory, bd.words);
  memory_.mark_written(base + low, high - low + 1);
  receiver_.clear();
  return Turn::kMoved;
}

std::string TileDma::waiting_for() const {
  const BufferDescriptor& bd = *ring_[at_];
  const std::string who = tile_name(bd.tile) + " " + direction_name(bd.direction) +
                          std::to_string(bd.channel) + " (" + bd.buffer + ")";
  if (!holds_) return who + " waits for lock " + std::to_string(bd.acquire.id);
  return who + (bd.direction == DmaDirection::kMm2s ? " waits for room in its stream"
                                                    : " waits for data");
}

// ---- Shims
// ----------------------------------------------------------------------------------------

ShimDma::ShimDma(ShimChannel channel, Streams& streams, double first_access_cycles)
    : channel_(channel), streams_(streams), first_access_cycles_(first_access_cycles) {}

Result<Turn> ShimDma::step(std::span<const std::span<std::byte>> buffers, DdrTraffic& traffic) {
  if (queue_.empty()) return Turn::kBlocked;
  const ShimTask& task = queue_.front();
  const DmaPort port{channel_.tile, channel_.channel};
  const bool sends = channel_.direction == DmaDirection::kMm2s;
  if (sends && !streams_.ready(port)) return Turn::kBlocked;
  if (repetition_ == 0 && !receiver_.partial()) {
    time_ = std::max(time_, task.queued) + (sends ? first_access_cycles_ : 0);
  }
  if (!sends && !receiver_.take(streams_.end(port), task.length_words, time_))
    return Turn::kBlocked;

  const std::span<std::byte> host = buffers[static_cast<size_t>(task.argument)];
  const int64_t base = task.base_word + (repetition_ % task.iteration_size) * task.iteration_stride;
  const auto [low, high] = walk_bounds(task.walk, task.length_words);
  if (base + low < 0 || (base + high + 1) * 4 > static_cast<int64_t>(host.size())) {
    return internal_error("host bounds: a transfer of " + tile_name(channel_.tile) +
                          " reaches byte " + std::to_string((base + high + 1) * 4) +
                          " of argument " + std::to_string(task.argument) + ", which has " +
                          std::to_string(host.size()));
  }
  auto* words = reinterpret_cast<uint32_t*>(host.data()) + base;
  if (sends) {
    time_ += static_cast<double>(task.length_words);
    words_sent_ += task.length_words;
    traffic.read_bytes += 4 * task.length_words;
    streams_.send(port, gather(words, task.walk, task.length_words), time_);
  } else {
    traffic.written_bytes += 4 * task.length_words;
    scatter(receiver_.words(), words, task.walk);
    receiver_.clear();
  }
  if (++repetition_ == task.repetitions) {
    repetition_ = 0;
    if (task.token) tokens_.push_back(time_);
    queue_.pop_front();
  }
  return Turn::kMoved;
}

double ShimDma::take_token() {
  const double time = tokens_.front();
  tokens_.pop_front();
  return time;
}

std::string ShimDma::waiting_for() const {
  return tile_name(channel_.tile) + " " + direction_name(channel_.direction) +
         std::to_string(channel_.channel) + " has " + std::to_string(queue_.size()) +
         " task(s), the first in repetition " + std::to_string(repetition_ + 1) + " of " +
         std::to_string(queue_.front().repetitions) +
         (channel_.direction == DmaDirection::kMm2s ? ", waits for room in its stream"
                                                    : ", waits for data");
}

}  // namespace sotto::npu::sim
