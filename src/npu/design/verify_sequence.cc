// Rules of host sequences: patterns, bounds, tokens, descriptors and queues.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "npu/design/lowered.h"
#include "npu/design/verify.h"

namespace sotto::npu {
namespace {

class SequenceVerifier {
 public:
  SequenceVerifier(const Design& design, const Sequence& sequence)
      : design_(design), sequence_(sequence), generation_(generation(design.generation)) {}

  std::vector<Violation> run() {
    for (const SequenceOp& op : sequence_.ops) {
      std::visit([this](const auto& one) { check(one); }, op);
    }
    for (const auto& [name, task] : running_) {
      if (task.token && !task.awaited)
        report("token", "the token of task " + name + " is never awaited");
    }
    return std::move(found_);
  }

 private:
  struct Running {
    std::string fifo;
    Tile shim;
    bool token = false, awaited = false, freed = false;
    bool from_host = false;
    int awaits_at_start = 0;  // Output tokens taken before it started
  };

  void report(std::string rule, std::string message) {
    found_.push_back({std::move(rule), "sequence @" + sequence_.name + ": " + std::move(message)});
  }

  // ---- Tasks
  // --------------------------------------------------------------------------------------

  void check(const StartTask& start) {
    const Task& task = start.task;
    const ObjectFifo* fifo = design_.fifo(task.fifo);
    const bool from_host = fifo != nullptr && tile_kind(fifo->producer) == TileKind::kShim;
    const bool to_host = fifo != nullptr && fifo->consumers.size() == 1 &&
                         tile_kind(fifo->consumers[0].tile) == TileKind::kShim;
    if (!from_host && !to_host) {
      report("symbol", "task " + task.name + " is on @" + task.fifo +
                           ", which is no fifo that ends at a shim");
      return;
    }
    if (task.argument < 0 || static_cast<size_t>(task.argument) >= sequence_.arguments.size()) {
      report("symbol", "task " + task.name + " names no argument of the sequence");
      return;
    }
    check_pattern(task);
    Running running{task.fifo,
                    from_host ? fifo->producer : fifo->consumers[0].tile,
                    task.issue_token,
                    false,
                    false,
                    from_host,
                    output_awaits_};
    const auto active = [&](const auto& same) {
      return 1 + std::count_if(running_.begin(), running_.end(), [&](const auto& entry) {
               return !entry.second.awaited && !entry.second.freed && same(entry.second);
             });
    };
    const auto on_shim = active([&](const Running& r) { return r.shim == running.shim; });
    const auto on_channel = active([&](const Running& r) { return r.fifo == running.fifo; });
    if (on_shim > generation_.shim.dma.buffer_descriptors) {
      report("bd_count", std::to_string(on_shim) + " tasks are active on " +
                             tile_name(running.shim) + ", it has " +
                             std::to_string(generation_.shim.dma.buffer_descriptors.value) +
                             " descriptors");
    }
    if (on_channel > generation_.task_queue_depth) {
      report("queue_depth", std::to_string(on_channel) + " tasks are queued for @" + task.fifo +
                                ", its channel holds " +
                                std::to_string(generation_.task_queue_depth.value));
    }
    if (!running_.emplace(task.name, running).second) {
      report("symbol", "task " + task.name + " is started twice");
    }
  }

  void check(const AwaitTask& await) {
    const auto it = running_.find(await.task);
    if (it == running_.end()) {
      report("token", "awaits " + await.task + ", which was not started");
    } else if (!it->second.token) {
      report("token", "awaits task " + await.task + ", which gives no token");
    } else if (it->second.awaited) {
      report("token", "awaits task " + await.task + " twice; it gives one token");
    } else {
      it->second.awaited = true;
      if (!it->second.from_host) ++output_awaits_;
    }
  }

  // A free is a promise that the task is done. What proves it for an input is the token of an
  // output taken after the input was started: the output cannot be complete before its inputs were
  // read.
  void check(const FreeTask& free) {
    const auto it = running_.find(free.task);
    if (it == running_.end()) {
      report("token", "frees " + free.task + ", which was not started");
      return;
    }
    if (!it->second.awaited && it->second.awaits_at_start == output_awaits_) {
      report("bd_in_flight", "frees task " + free.task +
                                 " before any output token after its start; its descriptor may be "
                                 "reused while it runs");
    }
    it->second.freed = true;
  }

  void check(const WriteParameter& write) {
    const Buffer* buffer = design_.buffer(write.buffer);
    if (buffer == nullptr) {
      report("symbol", "writes buffer @" + write.buffer + ", which is not declared");
    } else if (write.index < 0 || 4 * (write.index + 1) > buffer->type.bytes()) {
      report("symbol", "writes word " + std::to_string(write.index) + " of @" + write.buffer +
                           ", which has " + std::to_string(buffer->type.bytes() / 4));
    }
  }

  void check(const SetLock& set) {
    if (design_.lock(set.lock) == nullptr)
      report("symbol", "sets lock @" + set.lock + ", which is not declared");
    if (set.value > generation_.lock_value_max) {
      report("lock_value", "sets lock @" + set.lock + " to " + std::to_string(set.value));
    }
  }

  // ---- Patterns
  // -----------------------------------------------------------------------------------

  void check_pattern(const Task& task) {
    const HostArgument& argument = sequence_.arguments[static_cast<size_t>(task.argument)];
    const int bytes = element_bytes(argument.element);
    const std::string who = "task " + task.name;
    if (task.offset * bytes % 4 != 0)
      report("granularity", who + ": its offset is no multiple of 4 bytes");
    if (task.len * bytes % 4 != 0)
      report("granularity", who + ": its length is no whole number of 4-byte words");
    if (task.repeat_count > generation_.queue_repeat_max) {
      report("repeat", who + ": repeat_count " + std::to_string(task.repeat_count) +
                           ", the queue holds " +
                           std::to_string(generation_.queue_repeat_max.value));
    }
    if (task.dims.empty()) {
      check_bounds(task, argument, task.offset + task.len);
      return;
    }
    if (task.dims.size() != 4) {
      report("dims", who + " has " + std::to_string(task.dims.size()) +
                         " dimensions, a task has none or four");
      return;
    }
    check_repetition(task);
    check_sizes(task, argument.element);
    int64_t end = task.offset + 1;
    for (const Dim& dim : task.dims)
      end += (dim.size - 1) * dim.stride;
    check_bounds(task, argument, end);
  }

  void check_bounds(const Task& task, const HostArgument& argument, int64_t end) {
    if (task.offset >= 0 && end <= argument.elements) return;
    report("host_bounds", "task " + task.name + " reaches element " + std::to_string(end) +
                              " of %" + argument.name + ", which has " +
                              std::to_string(argument.elements));
  }

  void check_repetition(const Task& task) {
    const std::string who = "task " + task.name;
    const int64_t outer = task.dims[0].size;
    if (outer > generation_.shim.dma.iteration_max) {
      report("repeat", who + ": an outermost size of " + std::to_string(outer) +
                           ", the iteration holds " +
                           std::to_string(generation_.shim.dma.iteration_max.value));
    } else if (outer > 1 && task.repeat_count != outer - 1) {
      report("repeat", who + ": an outermost size of " + std::to_string(outer) +
                           " needs repeat_count " + std::to_string(outer - 1) + ", it says " +
                           std::to_string(task.repeat_count));
    }
  }

  void check_sizes(const Task& task, ElementType element) {
    const std::string who = "task " + task.name;
    const int bytes = element_bytes(element);
    const DmaLimits& dma = generation_.shim.dma;
    const int64_t product = task.dims[1].size * task.dims[2].size * task.dims[3].size;
    if (product != task.len) {
      report("length", who + ": len is " + std::to_string(task.len) +
                           ", its inner three sizes make " + std::to_string(product));
    }
    if (task.dims[3].size * bytes % 4 != 0)
      report("granularity", who + ": its innermost run is no whole number of words");
    if (bytes < 4 && task.dims[3].stride != 1)
      report("inner_stride", who + ": the innermost stride must be 1");
    const std::vector<Dim> dims = legalise(task.dims, generation_, task.is_memcpy);
    const int64_t stride_max = int64_t{1} << dma.stride_bits;
    for (size_t i = 0; i < 3; ++i) {
      if (dims[i].size <= 1) continue;
      if (dims[i].stride * bytes % 4 != 0) {
        report("granularity",
               who + ": stride " + std::to_string(dims[i].stride) + " is no whole number of words");
      } else if (dims[i].stride * bytes / 4 > stride_max) {
        report("stride", who + ": a stride of " + std::to_string(dims[i].stride * bytes / 4) +
                             " words, the field holds " + std::to_string(stride_max));
      }
    }
    const int64_t size_max = (int64_t{1} << dma.wrap_bits) - 1;
    const bool linear = dims[2].size == 1 && dims[1].size == 1;
    const int64_t inner = dims[3].size * bytes / 4;
    if (!linear && (inner > size_max || dims[2].size > size_max)) {
      report("size", who + ": a strided size of " + std::to_string(std::max(inner, dims[2].size)) +
                         ", the field holds " + std::to_string(size_max));
    }
  }

  const Design& design_;
  const Sequence& sequence_;
  const Generation& generation_;
  std::vector<Violation> found_;
  std::map<std::string, Running> running_;
  int output_awaits_ = 0;
};

}  // namespace

std::vector<Violation> verify_sequence(const Design& design, const Sequence& sequence) {
  return SequenceVerifier(design, sequence).run();
}

std::vector<Dim> legalise(const std::vector<Dim>& dims, const Generation& generation,
                          bool may_use_iteration) {
  std::vector<Dim> out = dims;
  if (out.size() != 4) return out;
  // Contiguous neighbours are one dimension.
  for (size_t i = 3; i-- > 1;) {
    if (out[i].size > 1 && out[i].stride == out[3].size && out[3].stride == 1 &&
        std::all_of(out.begin() + static_cast<std::ptrdiff_t>(i) + 1, out.begin() + 3,
                    [](const Dim& d) { return d.size == 1; })) {
      out[3].size *= out[i].size;
      out[i] = {1, 0};
    }
  }
  // Only the dimension next to the iteration has no size field.
  const int64_t size_max = (int64_t{1} << generation.shim.dma.wrap_bits) - 1;
  if (out[2].size > size_max && out[1].size == 1) {
    std::swap(out[1], out[2]);
    out[2] = {1, 0};
  } else if (out[2].size > size_max && may_use_iteration && out[0].size == 1 &&
             out[1].size <= generation.shim.dma.iteration_max) {
    out[0] = out[1];
    out[1] = out[2];
    out[2] = {1, 0};
  }
  return out;
}

}  // namespace sotto::npu
