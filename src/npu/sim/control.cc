#include "npu/sim/control.h"

#include <map>
#include <set>
#include <utility>

namespace sotto::npu::sim {
namespace {

constexpr uint32_t kShimControlEnd = kShimChannelBase + 0x20;
constexpr uint32_t kCoreMemoryEnd = 0x10000;

/// Replays register writes of a stream into actions.
class StreamReader {
 public:
  explicit StreamReader(const Generation& generation) : generation_(generation) {}

  Status operator()(const BlockWrite& op) {
    const RegisterAddress at = decode_address(op.address);
    const bool descriptor = at.tile.row == 0 && at.offset >= kShimBdBase &&
                            at.offset < kShimChannelBase && at.offset % kShimBdBytes == 0 &&
                            op.data.size() == 8;
    if (!descriptor || at.tile.col >= generation_.columns)
      return unknown("block write", op.address);
    const int id = static_cast<int>((at.offset - kShimBdBase) / kShimBdBytes);
    registers_[{at.tile, id}] = {decode_shim_descriptor(op.data), -1, 0};
    add(ConfigureDescriptor{at.tile, id}, generation_.blockwrite_cycles);
    return {};
  }
  Status operator()(const PatchAddress& op) {
    const RegisterAddress at = decode_address(op.address);
    if (at.tile.row != 0 || at.offset < kShimBdBase + 4 ||
        (at.offset - kShimBdBase) % kShimBdBytes != 4) {
      return unknown("address patch", op.address);
    }
    const auto it =
        registers_.find({at.tile, static_cast<int>((at.offset - kShimBdBase) / kShimBdBytes)});
    if (it == registers_.end())
      return internal_error("stream: patches a descriptor that was not written");
    it->second.argument = static_cast<int>(op.argument);
    it->second.base_bytes = op.plus;
    return {};
  }
  Status operator()(const MaskWrite& op) {
    const RegisterAddress at = decode_address(op.address);
    const bool controller = at.tile.row == 0 && at.offset >= kShimChannelBase &&
                            at.offset < kShimControlEnd && at.offset % 8 == 0 &&
                            op.mask == kControllerIdMask && op.value == kControllerIdValue;
    if (!controller) return unknown("masked write", op.address);
    token_target_set_.insert(op.address);
    pending_cycles_ += generation_.maskwrite_cycles;
    return {};
  }
  Status operator()(const Write32& op) {
    const RegisterAddress at = decode_address(op.address);
    if (at.tile.col >= generation_.columns || at.tile.row >= generation_.rows)
      return unknown("write", op.address);
    if (at.tile.row == 0) return queue_push(at, op);
    if (at.tile.row == 1) return unknown("write", op.address);
    if (at.offset < kCoreMemoryEnd) {
      if (at.offset % 4 != 0) return unknown("write", op.address);
      add(WriteTileWord{at.tile, at.offset, op.value}, generation_.write32_cycles);
      return {};
    }
    const int lock = static_cast<int>((at.offset - kCoreLockBase) / 0x10);
    if (at.offset < kCoreLockBase || at.offset % 0x10 != 0 || lock >= generation_.core.locks) {
      return unknown("write", op.address);
    }
    if (op.value > static_cast<uint32_t>(generation_.lock_value_max)) {
      return internal_error("lock value: the stream sets lock " + std::to_string(lock) + " of " +
                            tile_name(at.tile) + " to " + std::to_string(op.value));
    }
    add(WriteLock{at.tile, lock, static_cast<int>(op.value)}, generation_.write32_cycles);
    return {};
  }
  Status operator()(const Sync& op) {
    const int channels = op.direction == DmaDirection::kS2mm ? generation_.shim.dma.s2mm_channels
                                                             : generation_.shim.dma.mm2s_channels;
    if (op.tile.row != 0 || op.tile.col >= generation_.columns || op.channel >= channels ||
        op.rows != 1 || op.columns != 1) {
      return internal_error("stream: waits for a token of a channel that does not exist");
    }
    add(WaitToken{{op.tile, op.direction, op.channel}}, generation_.write32_cycles);
    return {};
  }
  Status operator()(const Preempt&) { return {}; }
  Status operator()(const LoadPdi&) {
    return unsupported("stream: load of a PDI is not simulated");
  }

  std::vector<ControlStep> take() { return std::move(steps_); }

 private:
  struct Register {
    ShimDescriptor descriptor;
    int argument = -1;
    uint32_t base_bytes = 0;
  };

  static Status unknown(const std::string& what, uint32_t address) {
    const RegisterAddress at = decode_address(address);
    return internal_error("stream: " + what + " to offset " + std::to_string(at.offset) + " of " +
                          tile_name(at.tile) + ", which is no register that a sequence uses");
  }

  void add(ControlAction action, double cycles) {
    steps_.push_back({std::move(action), cycles + std::exchange(pending_cycles_, 0.0)});
  }

  Status queue_push(RegisterAddress at, const Write32& op) {
    if (at.offset < kShimChannelBase || at.offset >= kShimControlEnd || at.offset % 8 != 4) {
      return unknown("write", op.address);
    }
    const uint32_t index = (at.offset - kShimChannelBase) / 8;
    ShimChannel channel{at.tile, index < 2 ? DmaDirection::kS2mm : DmaDirection::kMm2s,
                        static_cast<int>(index % 2)};
    const int id = static_cast<int>(op.value & 0xFU);
    const auto it = registers_.find({at.tile, id});
    if (it == registers_.end() || it->second.argument < 0) {
      return internal_error("stream: queues descriptor " + std::to_string(id) + " of " +
                            tile_name(at.tile) + ", which was not written and patched");
    }
    if (!it->second.descriptor.valid) return internal_error("stream: queues an invalid descriptor");
    const bool token = (op.value >> 31) != 0;
    if (token && token_target_set_.count(op.address - 4) == 0) {
      return internal_error(
          "stream: asks for a token of a channel whose controller id was not set");
    }
    SOTTO_ASSIGN_OR_RETURN(ShimTask task, task_of(it->second));
    task.descriptor = id;
    task.repetitions = static_cast<int>((op.value >> 16) & 0xFFU) + 1;
    task.token = token;
    add(QueueTask{channel, std::move(task)}, generation_.write32_cycles);
    return {};
  }

  static Result<ShimTask> task_of(const Register& reg) {
    const ShimDescriptor& d = reg.descriptor;
    ShimTask task;
    task.argument = reg.argument;
    if (reg.base_bytes != d.base_bytes)
      return internal_error("stream: patch and descriptor disagree on the offset");
    if (reg.base_bytes % 4 != 0)
      return internal_error("stream: an offset is no multiple of 4 bytes");
    task.base_word = reg.base_bytes / 4;
    task.length_words = d.length_words;
    if (d.length_words == 0) return internal_error("stream: a transfer of no words");
    if (d.d0_size != 0) {
      const int64_t d1 = d.d1_size == 0 ? 1 : d.d1_size;
      const int64_t inner = d.d0_size * d1;
      if (task.length_words % inner != 0) {
        return internal_error("stream: a length of " + std::to_string(task.length_words) +
                              " words is no multiple of its inner two sizes");
      }
      task.walk = {
          {d.d0_size, d.d0_stride}, {d1, d.d1_stride}, {task.length_words / inner, d.d2_stride}};
    }
    task.iteration_size = d.iteration_size;
    task.iteration_stride = d.iteration_size > 1 ? d.iteration_stride : 0;
    return task;
  }

  const Generation& generation_;
  std::map<std::pair<Tile, int>, Register> registers_;
  std::set<uint32_t> token_target_set_;
  std::vector<ControlStep> steps_;
  double pending_cycles_ = 0;  // Of operations that make no action of their own
};

/// Walks a sequence's description.
class SequenceReader {
 public:
  SequenceReader(const Sequence& sequence, const LoweredArray& array)
      : sequence_(sequence), array_(array), generation_(generation(array.generation)) {}

  Status operator()(const StartTask& start) {
    const Task& task = start.task;
    const auto channel = array_.shim.find(task.fifo);
    if (channel == array_.shim.end()) return invalid_argument("task on unknown fifo @" + task.fifo);
    if (task.argument < 0 || static_cast<size_t>(task.argument) >= sequence_.arguments.size()) {
      return invalid_argument("task " + task.name + " names no argument of the sequence");
    }
    const int bytes =
        element_bytes(sequence_.arguments[static_cast<size_t>(task.argument)].element);
    const auto words = [bytes](int64_t elements) { return elements * bytes / 4; };
    ShimTask out;
    out.argument = task.argument;
    out.base_word = words(task.offset);
    out.length_words = words(task.len);
    out.repetitions = task.repeat_count + 1;
    out.token = task.issue_token;
    if (out.length_words <= 0) return invalid_argument("task " + task.name + " moves nothing");
    if (!task.dims.empty()) {
      out.walk = {{words(task.dims[3].size), 1},
                  {task.dims[2].size, words(task.dims[2].stride)},
                  {task.dims[1].size, words(task.dims[1].stride)}};
      if (task.dims[0].stride != 0) {
        out.iteration_size = static_cast<int>(task.dims[0].size);
        out.iteration_stride = words(task.dims[0].stride);
      }
    }
    out.descriptor =
        next_descriptor_++;  // the description promises its own reuse; ids are checked in streams
    running_[task.name] = channel->second;
    steps_.push_back({QueueTask{channel->second, std::move(out)},
                      generation_.blockwrite_cycles + generation_.write32_cycles +
                          (task.issue_token ? generation_.maskwrite_cycles.value : 0.0)});
    return {};
  }
  Status operator()(const AwaitTask& await) {
    const auto it = running_.find(await.task);
    if (it == running_.end()) return invalid_argument("awaits unknown task " + await.task);
    steps_.push_back({WaitToken{it->second}, generation_.write32_cycles});
    return {};
  }
  Status operator()(const FreeTask&) { return {}; }
  Status operator()(const WriteParameter& write) {
    const PlacedBuffer* buffer = array_.buffer(write.buffer);
    if (buffer == nullptr) return invalid_argument("writes unknown buffer @" + write.buffer);
    steps_.push_back({WriteTileWord{buffer->tile, buffer->address + 4 * write.index,
                                    static_cast<uint32_t>(write.value)},
                      generation_.write32_cycles});
    return {};
  }
  Status operator()(const SetLock& set) {
    const Lock* lock = array_.lock(set.lock);
    if (lock == nullptr) return invalid_argument("sets unknown lock @" + set.lock);
    steps_.push_back({WriteLock{lock->tile, lock->id, set.value}, generation_.write32_cycles});
    return {};
  }

  std::vector<ControlStep> take() { return std::move(steps_); }

 private:
  const Sequence& sequence_;
  const LoweredArray& array_;
  const Generation& generation_;
  std::map<std::string, ShimChannel> running_;
  std::vector<ControlStep> steps_;
  int next_descriptor_ = 0;
};

}  // namespace

Result<std::vector<ControlStep>> control_from_words(std::span<const uint32_t> words,
                                                    const Generation& generation) {
  SOTTO_ASSIGN_OR_RETURN(const Stream stream, decode_stream(words));
  if (stream.header.generation != generation.txn_generation ||
      stream.header.columns != generation.columns) {
    return invalid_argument("the stream is for another NPU generation than the array");
  }
  StreamReader reader(generation);
  for (const StreamOp& op : stream.ops)
    SOTTO_RETURN_IF_ERROR(std::visit(reader, op));
  return reader.take();
}

Result<std::vector<ControlStep>> control_from_sequence(const Sequence& sequence,
                                                       const LoweredArray& array) {
  SequenceReader reader(sequence, array);
  for (const SequenceOp& op : sequence.ops)
    SOTTO_RETURN_IF_ERROR(std::visit(reader, op));
  return reader.take();
}

}  // namespace sotto::npu::sim
