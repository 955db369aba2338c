#include "npu/sim/array_sim.h"

#include <algorithm>
#include <set>
#include <utility>

#include "npu/sim/control.h"
#include "npu/sim/core_engine.h"
#include "npu/sim/dma.h"
#include "npu/sim/tile_state.h"

namespace sotto::npu {

using sim::ControlStep;
using sim::CoreEngine;
using sim::ShimDma;
using sim::TileDma;
using sim::TileMemory;
using sim::Turn;

// The array is a network of sequential processes that meet only in counting locks and streams, so
// the data do not depend on the order in which the processes get their turns. The control processor
// runs ahead as far as its waits let it: what a sequence does not enforce, does not hold here.
class ArraySim::Impl {
 public:
  Impl(const Design& design, LoweredArray lowered, ThreadPool& pool)
      : design_(design),
        array_(std::move(lowered)),
        generation_(generation(array_.generation)),
        pool_(pool),
        locks_(generation_.lock_value_max),
        streams_(array_.flows) {}

  Status build(const KernelTable& kernels);
  Result<LaunchReport> run(const std::vector<ControlStep>& steps,
                           std::span<const std::span<std::byte>> buffers);
  [[nodiscard]] const LoweredArray& array() const { return array_; }
  [[nodiscard]] const Generation& facts() const { return generation_; }

 private:
  TileMemory& memory(Tile tile);
  Status build_rings();
  Result<bool> advance_control(const std::vector<ControlStep>& steps, size_t& at);
  Status apply(const sim::ControlAction& action, bool& blocked);
  Status configure(const sim::ConfigureDescriptor& configure);
  Status queue(const sim::QueueTask& queue);
  Result<bool> turn_all(std::span<const std::span<std::byte>> buffers);
  Status settle(std::span<const std::span<std::byte>> buffers);
  Status run_kernels();
  ShimDma& shim(const ShimChannel& channel);
  [[nodiscard]] Status deadlock(const std::vector<ControlStep>& steps, size_t at) const;
  [[nodiscard]] Status left_behind() const;
  void rewind();

  const Design& design_;
  const LoweredArray array_;
  const Generation& generation_;
  ThreadPool& pool_;
  sim::Locks locks_;
  sim::Streams streams_;
  std::map<Tile, std::unique_ptr<TileMemory>> memories_;
  std::vector<TileDma> rings_;
  std::vector<CoreEngine> cores_;
  std::vector<ShimDma> shims_;
  std::map<std::pair<Tile, int>, int> idle_locks_;  // Lock values when nothing runs
  double control_time_ = 0;
  LaunchReport report_;
  sim::DdrTraffic traffic_;
};

TileMemory& ArraySim::Impl::memory(Tile tile) {
  std::unique_ptr<TileMemory>& slot = memories_[tile];
  if (slot == nullptr)
    slot = std::make_unique<TileMemory>(generation_.limits(tile_kind(tile)).memory_bytes);
  return *slot;
}

Status ArraySim::Impl::build_rings() {
  std::map<std::tuple<Tile, DmaDirection, int>, std::vector<const BufferDescriptor*>> channels;
  for (const BufferDescriptor& bd : array_.descriptors) {
    channels[{bd.tile, bd.direction, bd.channel}].push_back(&bd);
  }
  for (auto& [key, descriptors] : channels) {
    std::map<int, const BufferDescriptor*> by_id;
    for (const BufferDescriptor* bd : descriptors)
      by_id[bd->id] = bd;
    std::vector<const BufferDescriptor*> ring;
    std::set<int> seen;
    const BufferDescriptor* bd = descriptors.front();
    while (seen.insert(bd->id).second) {
      ring.push_back(bd);
      const auto next = by_id.find(bd->next);
      if (next == by_id.end())
        return internal_error("descriptor chain of " + tile_name(bd->tile) + " is broken");
      bd = next->second;
    }
    if (bd != ring.front())
      return internal_error("descriptor chain of " + tile_name(bd->tile) + " is no ring");
    const PlacedBuffer* buffer = array_.buffer(ring.front()->buffer);
    const Tile holder = buffer != nullptr ? buffer->tile : std::get<0>(key);
    rings_.emplace_back(std::move(ring), memory(holder), locks_, streams_);
  }
  return {};
}

Status ArraySim::Impl::build(const KernelTable& kernels) {
  for (const Lock& lock : array_.locks)
    locks_.set(lock.tile, lock.id, lock.init, 0);
  SOTTO_RETURN_IF_ERROR(build_rings());
  for (const CoreProgram& program : design_.programs) {
    SOTTO_ASSIGN_OR_RETURN(CoreEngine core, CoreEngine::create(program, design_, array_, kernels,
                                                               memory(program.tile), locks_));
    cores_.push_back(std::move(core));
  }
  for (const auto& entry : array_.shim) {
    shims_.emplace_back(entry.second, streams_, generation_.first_ddr_access_cycles);
  }
  SOTTO_RETURN_IF_ERROR(settle({}));  // cores come to their first wait
  idle_locks_ = locks_.values();
  return {};
}

ShimDma& ArraySim::Impl::shim(const ShimChannel& channel) {
  const auto same = [&](const ShimDma& dma) {
    return dma.channel().tile == channel.tile && dma.channel().direction == channel.direction &&
           dma.channel().channel == channel.channel;
  };
  auto it = std::find_if(shims_.begin(), shims_.end(), same);
  if (it == shims_.end()) {  // a channel that leads nowhere: its task will wait for ever, and the
                             // report says so
    shims_.emplace_back(channel, streams_, generation_.first_ddr_access_cycles);
    it = shims_.end() - 1;
  }
  return *it;
}

// ---- Control
// --------------------------------------------------------------------------------------

Status ArraySim::Impl::configure(const sim::ConfigureDescriptor& configure) {
  for (const ShimDma& dma : shims_) {
    if (dma.channel().tile != configure.tile) continue;
    for (const sim::ShimTask& task : dma.queue()) {
      if (task.descriptor == configure.id) {
        return internal_error("descriptor in flight: descriptor " + std::to_string(configure.id) +
                              " of " + tile_name(configure.tile) +
                              " is rewritten while a task that uses it may still run");
      }
    }
  }
  return {};
}

Status ArraySim::Impl::queue(const sim::QueueTask& queue) {
  ShimDma& dma = shim(queue.channel);
  sim::ShimTask task = queue.task;
  task.queued = control_time_;
  dma.push(std::move(task));
  const int depth = static_cast<int>(dma.queue().size());
  report_.peak_queue = std::max(report_.peak_queue, depth);
  if (depth <= generation_.task_queue_depth) return {};
  return internal_error("queue depth: " + std::to_string(depth) +
                        " tasks may be queued at one channel of " + tile_name(queue.channel.tile) +
                        ", it holds " + std::to_string(generation_.task_queue_depth.value));
}

Status ArraySim::Impl::apply(const sim::ControlAction& action, bool& blocked) {
  if (const auto* a = std::get_if<sim::ConfigureDescriptor>(&action)) return configure(*a);
  if (const auto* a = std::get_if<sim::QueueTask>(&action)) return queue(*a);
  if (const auto* a = std::get_if<sim::WaitToken>(&action)) {
    ShimDma& dma = shim(a->channel);
    blocked = dma.tokens() == 0;
    if (!blocked) control_time_ = std::max(control_time_, dma.take_token());
    return {};
  }
  if (const auto* a = std::get_if<sim::WriteTileWord>(&action)) {
    TileMemory& target = memory(a->tile);
    target.words()[a->address / 4] = a->value;
    target.mark_written(a->address / 4, 1);
    return {};
  }
  const auto& a = std::get<sim::WriteLock>(action);
  locks_.set(a.tile, a.id, a.value, control_time_);
  return {};
}

Result<bool> ArraySim::Impl::advance_control(const std::vector<ControlStep>& steps, size_t& at) {
  bool moved = false;
  for (; at < steps.size(); ++at) {
    bool blocked = false;
    SOTTO_RETURN_IF_ERROR(apply(steps[at].action, blocked));
    if (blocked) break;
    control_time_ += steps[at].cycles;
    ++report_.control_ops;
    moved = true;
  }
  return moved;
}

// ---- Turns
// ----------------------------------------------------------------------------------------

Result<bool> ArraySim::Impl::turn_all(std::span<const std::span<std::byte>> buffers) {
  bool moved = false;
  const auto drain = [&moved](auto step) -> Status {
    while (true) {
      Result<Turn> turn = step();
      if (!turn.ok()) return turn.status();
      if (*turn == Turn::kBlocked) return {};
      moved = true;
    }
  };
  for (ShimDma& dma : shims_)
    SOTTO_RETURN_IF_ERROR(drain([&] { return dma.step(buffers, traffic_); }));
  for (TileDma& dma : rings_)
    SOTTO_RETURN_IF_ERROR(drain([&] { return dma.step(); }));
  for (CoreEngine& core : cores_)
    SOTTO_RETURN_IF_ERROR(drain([&] { return core.step(); }));
  return moved;
}

Status ArraySim::Impl::run_kernels() {
  std::vector<CoreEngine*> ready;
  for (CoreEngine& core : cores_) {
    if (core.has_call()) ready.push_back(&core);
  }
  pool_.parallel_for(static_cast<int64_t>(ready.size()),
                     [&](int64_t task, int) { ready[static_cast<size_t>(task)]->run_call(); });
  for (CoreEngine* core : ready) {
    ++report_.kernel_calls[core->call_name()];
    SOTTO_RETURN_IF_ERROR(core->finish_call());
  }
  return {};
}

Status ArraySim::Impl::settle(std::span<const std::span<std::byte>> buffers) {
  while (true) {
    SOTTO_ASSIGN_OR_RETURN(const bool moved, turn_all(buffers));
    if (std::any_of(cores_.begin(), cores_.end(),
                    [](const CoreEngine& c) { return c.has_call(); })) {
      SOTTO_RETURN_IF_ERROR(run_kernels());
    } else if (!moved) {
      return {};
    }
  }
}

void ArraySim::Impl::rewind() {
  for (ShimDma& dma : shims_)
    dma.rewind();
  for (TileDma& dma : rings_)
    dma.rewind();
  for (CoreEngine& core : cores_)
    core.rewind();
  locks_.rewind();
  control_time_ = 0;
  report_ = {};
  traffic_ = {};
}

Result<LaunchReport> ArraySim::Impl::run(const std::vector<ControlStep>& steps,
                                         std::span<const std::span<std::byte>> buffers) {
  for (const ControlStep& step : steps) {
    if (const auto* queued = std::get_if<sim::QueueTask>(&step.action)) {
      if (static_cast<size_t>(queued->task.argument) >= buffers.size()) {
        return invalid_argument("the launch needs argument " +
                                std::to_string(queued->task.argument) + ", " +
                                std::to_string(buffers.size()) + " were given");
      }
    }
  }
  rewind();
  int64_t sent_before = 0;
  for (const TileDma& dma : rings_)
    sent_before += dma.words_sent();
  for (const ShimDma& dma : shims_)
    sent_before += dma.words_sent();
  for (size_t at = 0; at < steps.size();) {
    SOTTO_ASSIGN_OR_RETURN(const bool moved, advance_control(steps, at));
    const double before = control_time_;
    SOTTO_RETURN_IF_ERROR(settle(buffers));
    if (at < steps.size() && !moved && control_time_ == before) {
      const auto* wait = std::get_if<sim::WaitToken>(&steps[at].action);
      if (wait != nullptr && shim(wait->channel).tokens() == 0) return deadlock(steps, at);
    }
  }
  SOTTO_RETURN_IF_ERROR(settle(buffers));
  SOTTO_RETURN_IF_ERROR(left_behind());
  report_.cycles = control_time_;
  for (const ShimDma& dma : shims_)
    report_.cycles = std::max(report_.cycles, dma.time());
  report_.ddr_bytes_read = traffic_.read_bytes;
  report_.ddr_bytes_written = traffic_.written_bytes;
  for (const TileDma& dma : rings_)
    report_.stream_words += dma.words_sent();
  for (const ShimDma& dma : shims_)
    report_.stream_words += dma.words_sent();
  report_.stream_words -= sent_before;
  return std::move(report_);
}

// ---- Faults
// ---------------------------------------------------------------------------------------

Status ArraySim::Impl::deadlock(const std::vector<ControlStep>& steps, size_t at) const {
  const auto& wait = std::get<sim::WaitToken>(steps[at].action).channel;
  std::string text = "deadlock: the sequence waits for a token of " + tile_name(wait.tile) + " " +
                     (wait.direction == DmaDirection::kS2mm ? "S2MM" : "MM2S") +
                     std::to_string(wait.channel);
  int named = 0;
  const auto add = [&](const std::string& who) {
    if (++named <= 12) text += "; " + who;
  };
  for (const ShimDma& dma : shims_) {
    if (!dma.queue().empty()) add(dma.waiting_for());
  }
  for (const CoreEngine& core : cores_)
    add(core.waiting_for());
  for (const TileDma& dma : rings_) {
    if (!dma.idle()) add(dma.waiting_for());
  }
  if (named > 12) text += "; and " + std::to_string(named - 12) + " more";
  return internal_error(text);
}

Status ArraySim::Impl::left_behind() const {
  for (const ShimDma& dma : shims_) {
    if (!dma.queue().empty()) return internal_error("left behind: " + dma.waiting_for());
    if (dma.tokens() > 0) {
      return internal_error("left behind: " + std::to_string(dma.tokens()) + " token(s) of " +
                            tile_name(dma.channel().tile) + " that nobody waits for");
    }
  }
  for (const auto& [port, end] : streams_.ends()) {
    if (end.waiting_words() > 0) {
      return internal_error("left behind: " + std::to_string(end.waiting_words()) +
                            " words on their way to " + tile_name(port.tile) + " channel " +
                            std::to_string(port.channel));
    }
  }
  for (const auto& [lock, value] : idle_locks_) {
    if (locks_.value(lock.first, lock.second) != value) {
      return internal_error("left behind: lock " + std::to_string(lock.second) + " of " +
                            tile_name(lock.first) + " is " +
                            std::to_string(locks_.value(lock.first, lock.second)) +
                            " after the launch, " + std::to_string(value) + " when idle");
    }
  }
  return {};
}

// ---- Public
// ---------------------------------------------------------------------------------------

ArraySim::ArraySim(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ArraySim::~ArraySim() = default;

Result<std::unique_ptr<ArraySim>> ArraySim::create(const Design& design, LoweredArray lowered,
                                                   const KernelTable& kernels, ThreadPool& pool) {
  auto impl = std::make_unique<Impl>(design, std::move(lowered), pool);
  SOTTO_RETURN_IF_ERROR(impl->build(kernels));
  return std::unique_ptr<ArraySim>(new ArraySim(std::move(impl)));
}

Result<LaunchReport> ArraySim::launch(std::span<const uint32_t> words,
                                      std::span<const std::span<std::byte>> buffers) {
  SOTTO_ASSIGN_OR_RETURN(const std::vector<ControlStep> steps,
                         sim::control_from_words(words, impl_->facts()));
  return impl_->run(steps, buffers);
}

Result<LaunchReport> ArraySim::launch(const Sequence& sequence,
                                      std::span<const std::span<std::byte>> buffers) {
  SOTTO_ASSIGN_OR_RETURN(const std::vector<ControlStep> steps,
                         sim::control_from_sequence(sequence, impl_->array()));
  return impl_->run(steps, buffers);
}

}  // namespace sotto::npu
