#include "npu/sim/core_engine.h"

#include <algorithm>
#include <utility>

namespace sotto::npu::sim {
namespace {

/// Statements that one step may execute; a program that loops without ever waiting would otherwise
/// never return.
constexpr int kStatementsPerStep = 1 << 16;

Status check_calls(const std::vector<Statement>& body, const Design& design,
                   const KernelTable& kernels) {
  for (const Statement& statement : body) {
    if (const auto* loop = std::get_if<Loop>(&statement)) {
      SOTTO_RETURN_IF_ERROR(check_calls(loop->body, design, kernels));
    } else if (const auto* call = std::get_if<Call>(&statement)) {
      const Kernel* declared = design.kernel(call->kernel);
      if (declared == nullptr)
        return invalid_argument("call of @" + call->kernel + ", which is not declared");
      if (declared->arguments.size() != call->arguments.size()) {
        return invalid_argument("call of @" + call->kernel + " with a wrong number of arguments");
      }
      if (kernels.find(call->kernel) == kernels.end()) {
        return unsupported("the simulator has no kernel @" + call->kernel);
      }
    }
  }
  return {};
}

}  // namespace

Result<CoreEngine> CoreEngine::create(const CoreProgram& program, const Design& design,
                                      const LoweredArray& array, const KernelTable& kernels,
                                      TileMemory& memory, Locks& locks) {
  SOTTO_RETURN_IF_ERROR(
      check_calls(program.body, design, kernels).with_context(tile_name(program.tile)));
  CoreEngine core(memory, locks);
  core.program_ = &program;
  core.design_ = &design;
  core.array_ = &array;
  core.kernels_ = &kernels;
  if (const auto it = array.core_fifos.find(program.tile); it != array.core_fifos.end()) {
    for (const CoreFifoEnd& end : it->second) {
      FifoEnd state;
      state.end = &end;
      for (const std::string& name : end.buffers)
        state.buffers.push_back(array.buffer(name));
      core.ends_.push_back(std::move(state));
    }
  }
  core.stack_.push_back({&program.body, 0, nullptr, 0, 0});
  return core;
}

CoreEngine::FifoEnd* CoreEngine::fifo_end(const std::string& fifo, Port port) {
  const auto it = std::find_if(ends_.begin(), ends_.end(), [&](const FifoEnd& e) {
    return e.end->fifo == fifo && e.end->port == port;
  });
  return it == ends_.end() ? nullptr : &*it;
}

int64_t CoreEngine::evaluate(const Bound& bound) const {
  if (const auto* constant = std::get_if<int64_t>(&bound.value)) return *constant;
  const auto it = values_.find(std::get<std::string>(bound.value));
  return it == values_.end() ? 0 : it->second;
}

void CoreEngine::advance() {
  ++stack_.back().at;
  while (!stack_.empty() && stack_.back().at == stack_.back().body->size()) {
    Frame& frame = stack_.back();
    if (frame.loop == nullptr) return;  // the program ended
    if (frame.loop->forever || ++frame.counter < frame.to) {
      frame.at = 0;
      values_[frame.loop->counter] = frame.counter;
      return;
    }
    stack_.pop_back();
    ++stack_.back().at;
  }
}

bool CoreEngine::enter(const Loop& loop) {
  const int64_t from = evaluate(loop.from);
  const int64_t to = evaluate(loop.to);
  if (loop.body.empty() || (!loop.forever && from >= to)) return false;
  values_[loop.counter] = from;
  stack_.push_back({&loop.body, 0, &loop, from, to});
  return true;
}

Result<Turn> CoreEngine::step() {
  if (has_call()) return Turn::kBlocked;
  for (int count = 0; count < kStatementsPerStep; ++count) {
    const Frame& frame = stack_.back();
    if (frame.at == frame.body->size()) return count > 0 ? Turn::kMoved : Turn::kBlocked;  // ended
    const Statement& statement = (*frame.body)[frame.at];
    if (const auto* loop = std::get_if<Loop>(&statement)) {
      if (!enter(*loop)) advance();
      continue;
    }
    SOTTO_ASSIGN_OR_RETURN(const Turn turn, execute(statement));
    if (turn == Turn::kBlocked) return count > 0 ? Turn::kMoved : Turn::kBlocked;
    if (has_call()) return Turn::kMoved;
    advance();
  }
  return internal_error("endless program: " + tile_name(program_->tile) + " executes " +
                        std::to_string(kStatementsPerStep) +
                        " statements without a wait or a call");
}

Result<Turn> CoreEngine::execute(const Statement& statement) {
  if (const auto* s = std::get_if<Acquire>(&statement)) return acquire(*s);
  if (const auto* s = std::get_if<Release>(&statement)) {
    SOTTO_RETURN_IF_ERROR(release(*s));
    return Turn::kMoved;
  }
  if (const auto* s = std::get_if<UseLock>(&statement)) {
    const Lock* lock = array_->lock(s->lock);
    if (lock == nullptr)
      return invalid_argument(tile_name(program_->tile) + ": no lock @" + s->lock);
    if (s->acquire) {
      return locks_->acquire(lock->tile, lock->id, s->value, time_) ? Turn::kMoved : Turn::kBlocked;
    }
    SOTTO_RETURN_IF_ERROR(locks_->release(lock->tile, lock->id, s->value, time_));
    return Turn::kMoved;
  }
  if (const auto* s = std::get_if<Load>(&statement)) {
    const PlacedBuffer* buffer = array_->buffer(s->buffer);
    if (buffer == nullptr)
      return invalid_argument(tile_name(program_->tile) + ": no buffer @" + s->buffer);
    const int64_t word = buffer->address / 4 + s->index;
    if (memory_->first_unwritten(word, 1) >= 0) {
      return internal_error("uninitialised read: " + tile_name(program_->tile) + " loads word " +
                            std::to_string(s->index) + " of @" + s->buffer +
                            ", which nothing wrote");
    }
    values_[s->value] = static_cast<int32_t>(memory_->words()[word]);
    return Turn::kMoved;
  }
  SOTTO_RETURN_IF_ERROR(prepare_call(std::get<Call>(statement)));
  return Turn::kMoved;
}

Result<Turn> CoreEngine::acquire(const Acquire& statement) {
  FifoEnd* end = fifo_end(statement.fifo, statement.port);
  if (end == nullptr) {
    return invalid_argument(tile_name(program_->tile) + " acquires from @" + statement.fifo +
                            ", which does not end there on that side");
  }
  const int missing = statement.count - end->held;
  const bool consume = statement.port == Port::kConsume;
  const int lock = consume ? end->end->consumer_lock : end->end->producer_lock;
  if (missing > 0) {
    if (!locks_->acquire(program_->tile, lock, missing, time_)) return Turn::kBlocked;
    end->held = statement.count;
  }
  objects_[statement.object] = end->buffers[end->head];
  return Turn::kMoved;
}

Status CoreEngine::release(const Release& statement) {
  FifoEnd* end = fifo_end(statement.fifo, statement.port);
  if (end == nullptr || end->held < statement.count) {
    return invalid_argument(tile_name(program_->tile) + " releases more of @" + statement.fifo +
                            " than it holds");
  }
  const bool consume = statement.port == Port::kConsume;
  const int lock = consume ? end->end->producer_lock : end->end->consumer_lock;
  end->held -= statement.count;
  end->head = (end->head + static_cast<size_t>(statement.count)) % end->buffers.size();
  return locks_->release(program_->tile, lock, statement.count, time_);
}

int64_t CoreEngine::first_word(std::span<const std::byte> part) const {
  return (part.data() - reinterpret_cast<const std::byte*>(memory_->words())) / 4;
}

Status CoreEngine::prepare_call(const Call& statement) {
  const Kernel* declared = design_->kernel(statement.kernel);
  const SimKernel& kernel = kernels_->find(statement.kernel)->second;
  pending_.arguments.clear();
  for (size_t i = 0; i < statement.arguments.size(); ++i) {
    KernelArgument argument;
    const auto* type = std::get_if<ObjectType>(&declared->arguments[i]);
    const auto* name = std::get_if<std::string>(&statement.arguments[i]);
    if (type == nullptr) {
      argument.scalar =
          name == nullptr ? std::get<int64_t>(statement.arguments[i]) : evaluate(Bound{*name});
    } else {
      if (name == nullptr)
        return invalid_argument("call of @" + statement.kernel +
                                ": a number where an object is due");
      const auto object = objects_.find(*name);
      const PlacedBuffer* buffer =
          object != objects_.end() ? object->second : array_->buffer(*name);
      if (buffer == nullptr)
        return invalid_argument("call of @" + statement.kernel + ": no object %" + *name);
      if (type->bytes() > buffer->bytes) {
        return invalid_argument("call of @" + statement.kernel + ": argument " + std::to_string(i) +
                                " is larger than " + buffer->name);
      }
      argument.memory = memory_->bytes(buffer->address, type->bytes());
      argument.type = type;
      const bool output =
          std::find(kernel.outputs.begin(), kernel.outputs.end(), i) != kernel.outputs.end();
      if (!output &&
          memory_->first_unwritten(first_word(argument.memory), type->bytes() / 4) >= 0) {
        return internal_error("uninitialised read: @" + statement.kernel + " on " +
                              tile_name(program_->tile) + " reads " + buffer->name +
                              ", parts of which nothing wrote");
      }
    }
    pending_.arguments.push_back(argument);
  }
  pending_.kernel = &kernel;
  pending_.name = statement.kernel;
  return {};
}

void CoreEngine::run_call() {
  pending_.result = pending_.kernel->run(pending_.arguments);
}

Status CoreEngine::finish_call() {
  const SimKernel& kernel = *pending_.kernel;
  pending_.kernel = nullptr;
  SOTTO_RETURN_IF_ERROR(
      pending_.result.with_context(tile_name(program_->tile) + ", @" + pending_.name));
  for (const size_t i : kernel.outputs) {
    const std::span<std::byte> part = pending_.arguments[i].memory;
    memory_->mark_written(first_word(part), static_cast<int64_t>(part.size() / 4));
  }
  if (kernel.cycles) time_ += kernel.cycles(pending_.arguments);
  advance();
  return {};
}

std::string CoreEngine::waiting_for() const {
  const Frame& frame = stack_.back();
  const std::string who = tile_name(program_->tile);
  if (frame.at == frame.body->size()) return who + " has ended its program";
  const Statement& statement = (*frame.body)[frame.at];
  if (const auto* s = std::get_if<Acquire>(&statement)) {
    return who + " waits for " + (s->port == Port::kConsume ? "data in @" : "room in @") + s->fifo;
  }
  if (const auto* s = std::get_if<UseLock>(&statement)) return who + " waits for lock @" + s->lock;
  return who + " is in its program";
}

}  // namespace sotto::npu::sim
