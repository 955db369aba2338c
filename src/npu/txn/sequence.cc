#include "npu/txn/sequence.h"

#include <algorithm>
#include <map>
#include <set>

#include "npu/design/verify.h"

namespace sotto::npu {
namespace {

class SequenceEncoder {
 public:
  SequenceEncoder(const Sequence& sequence, const LoweredArray& lowered)
      : sequence_(sequence), lowered_(lowered), generation_(generation(lowered.generation)) {
    stream_.header.rows = generation_.rows;
    stream_.header.columns = generation_.columns;
    stream_.header.generation = generation_.txn_generation;
  }

  Result<Stream> run() {
    for (const SequenceOp& op : sequence_.ops) {
      SOTTO_RETURN_IF_ERROR(std::visit([this](const auto& one) { return encode(one); }, op)
                                .with_context("sequence " + sequence_.name));
    }
    stream_.header.operations = static_cast<uint32_t>(stream_.ops.size());
    return std::move(stream_);
  }

 private:
  struct Running {
    ShimChannel channel;
    int descriptor = 0;
  };

  Status encode(const StartTask& start) {
    const Task& task = start.task;
    const auto channel = lowered_.shim.find(task.fifo);
    if (channel == lowered_.shim.end()) {
      return invalid_argument("task " + task.name + ": no fifo @" + task.fifo + " ends at a shim");
    }
    if (task.argument < 0 || task.argument >= static_cast<int>(sequence_.arguments.size())) {
      return invalid_argument("task " + task.name + ": there is no argument " +
                              std::to_string(task.argument));
    }
    const ElementType element = sequence_.arguments[static_cast<size_t>(task.argument)].element;
    SOTTO_ASSIGN_OR_RETURN(const ShimDescriptor descriptor,
                           shim_descriptor(task, element, generation_));
    const Tile tile = channel->second.tile;
    SOTTO_ASSIGN_OR_RETURN(const int id, take_descriptor(tile, task));

    const uint32_t bd =
        encode_address(tile, kShimBdBase + kShimBdBytes * static_cast<uint32_t>(id));
    stream_.ops.emplace_back(BlockWrite{bd, encode_shim_descriptor(descriptor)});
    stream_.ops.emplace_back(
        PatchAddress{bd + 4, static_cast<uint32_t>(task.argument), descriptor.base_bytes});
    const uint32_t mm2s = channel->second.direction == DmaDirection::kMm2s ? 0x10U : 0U;
    const uint32_t control = encode_address(
        tile, kShimChannelBase + mm2s + 8U * static_cast<uint32_t>(channel->second.channel));
    if (task.issue_token)
      stream_.ops.emplace_back(MaskWrite{control, kControllerIdValue, kControllerIdMask});
    stream_.ops.emplace_back(Write32{
        control + 4, static_cast<uint32_t>(id) | static_cast<uint32_t>(task.repeat_count) << 16 |
                         (task.issue_token ? 1U << 31 : 0U)});
    running_[task.name] = {channel->second, id};
    return {};
  }

  Status encode(const AwaitTask& await) {
    const auto it = running_.find(await.task);
    if (it == running_.end())
      return invalid_argument("awaits task " + await.task + ", which is not running");
    const ShimChannel& channel = it->second.channel;
    stream_.ops.emplace_back(Sync{channel.tile, channel.direction, channel.channel, 1, 1});
    return release(it);
  }

  Status encode(const FreeTask& free) {
    const auto it = running_.find(free.task);
    if (it == running_.end())
      return invalid_argument("frees task " + free.task + ", which is not running");
    return release(it);
  }

  Status encode(const WriteParameter& write) {
    const PlacedBuffer* buffer = lowered_.buffer(write.buffer);
    if (buffer == nullptr)
      return invalid_argument("writes parameter buffer @" + write.buffer +
                              ", which does not exist");
    const int64_t at = buffer->address + 4 * write.index;
    if (write.index < 0 || 4 * (write.index + 1) > buffer->bytes) {
      return invalid_argument("writes word " + std::to_string(write.index) + " of @" +
                              write.buffer + ", which has " + std::to_string(buffer->bytes / 4));
    }
    stream_.ops.emplace_back(Write32{encode_address(buffer->tile, static_cast<uint32_t>(at)),
                                     static_cast<uint32_t>(write.value)});
    return {};
  }

  Status encode(const SetLock& set) {
    const Lock* lock = lowered_.lock(set.lock);
    if (lock == nullptr)
      return invalid_argument("sets lock @" + set.lock + ", which does not exist");
    if (tile_kind(lock->tile) != TileKind::kCore)
      return unsupported("sets a lock outside the cores: @" + set.lock);
    stream_.ops.emplace_back(
        Write32{encode_address(lock->tile, kCoreLockBase + 0x10U * static_cast<uint32_t>(lock->id)),
                static_cast<uint32_t>(set.value)});
    return {};
  }

  Result<int> take_descriptor(Tile tile, const Task& task) {
    std::set<int>& used = used_[tile];
    for (int id = 0; id < generation_.shim.dma.buffer_descriptors; ++id) {
      if (used.insert(id).second) return id;
    }
    return invalid_argument("task " + task.name + ": more than " +
                            std::to_string(generation_.shim.dma.buffer_descriptors.value) +
                            " tasks are active on " + tile_name(tile) +
                            "; await or free one first");
  }

  Status release(std::map<std::string, Running>::iterator it) {
    used_[it->second.channel.tile].erase(it->second.descriptor);
    running_.erase(it);
    return {};
  }

  const Sequence& sequence_;
  const LoweredArray& lowered_;
  const Generation& generation_;
  Stream stream_;
  std::map<std::string, Running> running_;
  std::map<Tile, std::set<int>> used_;
};

// True when the inner three dimensions walk memory without a gap; the hardware then takes the
// length alone.
bool is_linear(const std::vector<Dim>& dims, int64_t run) {
  for (size_t i = 3; i-- > 1;) {
    if (dims[i].size > 1 && dims[i].stride != run) return false;
    run *= dims[i].size;
  }
  return true;
}

}  // namespace

Result<ShimDescriptor> shim_descriptor(const Task& task, ElementType element, const Generation& g) {
  const int64_t bytes = element_bytes(element);
  const auto words = [&](int64_t elements) { return elements * bytes / 4; };
  const auto whole = [&](int64_t elements) { return elements * bytes % 4 == 0; };
  const std::string who = "task " + task.name;
  if (!whole(task.len) || !whole(task.offset)) {
    return invalid_argument(who + ": offset and length must be whole 4-byte words");
  }
  ShimDescriptor d;
  d.length_words = static_cast<uint32_t>(words(task.len));
  d.base_bytes = static_cast<uint32_t>(task.offset * bytes);
  d.burst = g.shim_burst_field;
  if (task.dims.empty()) return d;
  if (task.dims.size() != 4) return invalid_argument(who + ": needs no dimensions, or four");

  const int64_t size_max = (int64_t{1} << g.shim.dma.wrap_bits) - 1;
  const bool oversize = task.dims[2].size > size_max || words(task.dims[3].size) > size_max;
  const std::vector<Dim> dims = oversize ? legalise(task.dims, g, task.is_memcpy) : task.dims;
  const int64_t stride_max = int64_t{1} << g.shim.dma.stride_bits;
  for (size_t i = 0; i < 3; ++i) {
    if (dims[i].size > 1 && (!whole(dims[i].stride) || words(dims[i].stride) > stride_max)) {
      return invalid_argument(who + ": stride " + std::to_string(dims[i].stride) +
                              " is no whole number of words up to " + std::to_string(stride_max));
    }
  }
  if (!whole(dims[3].size))
    return invalid_argument(who + ": the innermost run must be whole 4-byte words");
  if (!is_linear(dims, dims[3].size)) {
    if (words(dims[3].size) > size_max || dims[2].size > size_max) {
      return invalid_argument(who + ": a strided size is over " + std::to_string(size_max));
    }
    d.d0_size = static_cast<int>(words(dims[3].size));
    d.d1_size = static_cast<int>(dims[2].size);
    d.d1_stride = std::max<int64_t>(words(dims[2].stride), 1);
    d.d2_stride = dims[1].size > 1 ? std::max<int64_t>(words(dims[1].stride), 1) : 1;
  }
  if (dims[0].size > 1 && dims[0].stride != 0) {
    if (dims[0].size > g.shim.dma.iteration_max) {
      return invalid_argument(who + ": " + std::to_string(dims[0].size) +
                              " iterations; the hardware has " +
                              std::to_string(g.shim.dma.iteration_max.value));
    }
    d.iteration_size = static_cast<int>(dims[0].size);
    d.iteration_stride = words(dims[0].stride);
  }
  return d;
}

Result<Stream> encode_sequence(const Sequence& sequence, const LoweredArray& lowered) {
  return SequenceEncoder(sequence, lowered).run();
}

}  // namespace sotto::npu
