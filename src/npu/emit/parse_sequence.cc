// Runtime sequences.
#include <map>
#include <utility>

#include "npu/emit/parser.h"

namespace sotto::npu {
namespace {

/// Far above what any transfer has; a product of three sizes stays inside 64 bits.
constexpr int64_t kMaxSize = int64_t{1} << 20;
constexpr int64_t kMaxDistance = int64_t{1} << 40;

}  // namespace

Status Parser::sequence() {
  Sequence out;
  SOTTO_ASSIGN_OR_RETURN(out.name, name(TokenKind::kSymbol, "the sequence's @name"));
  SOTTO_RETURN_IF_ERROR(expect("("));
  while (!accept(")")) {
    if (!out.arguments.empty()) SOTTO_RETURN_IF_ERROR(expect(","));
    HostArgument argument;
    SOTTO_ASSIGN_OR_RETURN(argument.name, name(TokenKind::kValue, "an argument"));
    SOTTO_RETURN_IF_ERROR(expect(":"));
    SOTTO_ASSIGN_OR_RETURN(const ObjectType type, memref());
    argument.elements = type.elements();
    argument.element = type.element;
    out.arguments.push_back(std::move(argument));
  }
  SOTTO_RETURN_IF_ERROR(expect("{"));
  Scope scope;
  std::map<std::string, Task> configured;
  while (!accept("}")) {
    if (accept("aiex.dma_start_task") || at("aiex.dma_await_task") || at("aiex.dma_free_task")) {
      const bool await = accept("aiex.dma_await_task");
      const bool free = !await && accept("aiex.dma_free_task");
      SOTTO_RETURN_IF_ERROR(expect("("));
      SOTTO_ASSIGN_OR_RETURN(std::string task, name(TokenKind::kValue, "a task"));
      SOTTO_RETURN_IF_ERROR(expect(")"));
      if (await) {
        out.ops.emplace_back(AwaitTask{std::move(task)});
      } else if (free) {
        out.ops.emplace_back(FreeTask{std::move(task)});
      } else {
        const auto it = configured.find(task);
        if (it == configured.end()) return error("starts %" + task + ", which is not configured");
        out.ops.emplace_back(StartTask{it->second});
      }
    } else if (accept("aiex.npu.rtp_write")) {
      WriteParameter write;
      SOTTO_RETURN_IF_ERROR(expect("("));
      SOTTO_ASSIGN_OR_RETURN(write.buffer, name(TokenKind::kSymbol, "a buffer"));
      SOTTO_RETURN_IF_ERROR(expect(","));
      SOTTO_ASSIGN_OR_RETURN(write.index, number());
      SOTTO_RETURN_IF_ERROR(expect(","));
      SOTTO_ASSIGN_OR_RETURN(const Bound value, bound(scope));
      const auto* constant = std::get_if<int64_t>(&value.value);
      if (constant == nullptr) return error("expected a constant");
      write.value = static_cast<int32_t>(*constant);
      SOTTO_RETURN_IF_ERROR(expect(")"));
      SOTTO_RETURN_IF_ERROR(expect(":"));
      SOTTO_RETURN_IF_ERROR(skip_type());
      out.ops.emplace_back(std::move(write));
    } else if (accept("aiex.set_lock")) {
      SetLock set;
      SOTTO_RETURN_IF_ERROR(expect("("));
      const auto lock = memory_.find(lexer_.peek().text);
      if (lexer_.peek().kind != TokenKind::kValue || lock == memory_.end())
        return error("expected a lock");
      lexer_.take();
      set.lock = lock->second;
      SOTTO_RETURN_IF_ERROR(expect(","));
      SOTTO_ASSIGN_OR_RETURN(const int64_t value, number());
      if (value < 0 || value > 1000) return error("lock value out of range");
      set.value = static_cast<int>(value);
      SOTTO_RETURN_IF_ERROR(expect(")"));
      out.ops.emplace_back(std::move(set));
    } else if (accept("aiex.npu.dma_memcpy_nd")) {
      SOTTO_RETURN_IF_ERROR(memcpy_nd(out));
    } else if (accept("aiex.npu.dma_wait")) {
      SOTTO_RETURN_IF_ERROR(wait(out));
    } else if (lexer_.peek().kind == TokenKind::kValue) {
      SOTTO_RETURN_IF_ERROR(sequence_value(out, scope, configured));
    } else {
      return error("expected an operation of a runtime sequence");
    }
  }
  design_.sequences.push_back(std::move(out));
  return {};
}

Status Parser::sequence_value(Sequence& out, Scope& scope,
                              std::map<std::string, Task>& configured) {
  const std::string value(lexer_.take().text);
  SOTTO_RETURN_IF_ERROR(expect("="));
  if (accept("arith.constant")) {
    SOTTO_ASSIGN_OR_RETURN(const int64_t constant, number());
    scope[value] = {constant};
    SOTTO_RETURN_IF_ERROR(expect(":"));
    return skip_type();
  }
  SOTTO_RETURN_IF_ERROR(expect("aiex.dma_configure_task_for"));
  SOTTO_ASSIGN_OR_RETURN(Task task, task_body(out, value));
  configured[value] = std::move(task);
  return {};
}

// dma_memcpy_nd(%a[offsets][sizes][strides]) {id = n : i64, metadata = @fifo, issue_token = true} :
// memref: a task whose repetition follows from its outermost size, and which always gives a token
// when it writes to the host.
Status Parser::memcpy_nd(Sequence& out) {
  Task task;
  task.is_memcpy = true;
  SOTTO_RETURN_IF_ERROR(expect("("));
  SOTTO_ASSIGN_OR_RETURN(const std::string buffer, name(TokenKind::kValue, "a host buffer"));
  SOTTO_ASSIGN_OR_RETURN(task.argument, argument_index(out, buffer));
  SOTTO_ASSIGN_OR_RETURN(const std::vector<int64_t> offsets, number_list());
  SOTTO_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, number_list());
  SOTTO_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, number_list());
  SOTTO_RETURN_IF_ERROR(expect(")"));
  if (offsets.size() != 4 || sizes.size() != 4 || strides.size() != 4)
    return error("expected lists of four");
  SOTTO_RETURN_IF_ERROR(expect("{"));
  bool asked = false;
  while (!accept("}")) {
    SOTTO_ASSIGN_OR_RETURN(const std::string key, name(TokenKind::kWord, "an attribute name"));
    SOTTO_RETURN_IF_ERROR(expect("="));
    if (key == "metadata") {
      SOTTO_ASSIGN_OR_RETURN(task.fifo, name(TokenKind::kSymbol, "a fifo"));
    } else {
      asked = asked || (key == "issue_token" && at("true"));
      lexer_.take();
      if (accept(":")) lexer_.take();
    }
    accept(",");
  }
  SOTTO_RETURN_IF_ERROR(expect(":"));
  SOTTO_RETURN_IF_ERROR(memref().status());
  task.len = 1;
  for (size_t i = 0; i < 4; ++i) {
    if (sizes[i] < 1 || sizes[i] > kMaxSize || strides[i] < 0 || strides[i] > kMaxDistance ||
        offsets[i] < 0 || offsets[i] > kMaxDistance) {
      return error("size, stride or offset out of range");
    }
    if (i > 0) task.len *= sizes[i];
    task.dims.push_back({sizes[i], strides[i]});
    task.offset += offsets[i];
  }
  task.repeat_count = static_cast<int>(sizes[0] - 1);
  const ObjectFifo* fifo_ = design_.fifo(task.fifo);
  const bool to_host = fifo_ != nullptr && tile_kind(fifo_->producer) != TileKind::kShim;
  task.issue_token = asked || to_host;
  task.name = "memcpy" + std::to_string(out.ops.size()) + "_" + task.fifo;
  out.ops.emplace_back(StartTask{std::move(task)});
  return {};
}

// dma_wait {symbol = @fifo}: takes one token of the fifo's channel.
Status Parser::wait(Sequence& out) {
  SOTTO_RETURN_IF_ERROR(expect("{"));
  SOTTO_RETURN_IF_ERROR(expect("symbol"));
  SOTTO_RETURN_IF_ERROR(expect("="));
  SOTTO_ASSIGN_OR_RETURN(const std::string fifo_name, name(TokenKind::kSymbol, "a fifo"));
  SOTTO_RETURN_IF_ERROR(expect("}"));
  for (size_t i = out.ops.size(); i-- > 0;) {
    const auto* start = std::get_if<StartTask>(&out.ops[i]);
    if (start != nullptr && start->task.fifo == fifo_name) {
      out.ops.emplace_back(AwaitTask{start->task.name});
      return {};
    }
  }
  return error("waits for @" + fifo_name + ", on which nothing was started");
}

Result<int> Parser::argument_index(const Sequence& sequence, const std::string& argument) const {
  for (size_t i = 0; i < sequence.arguments.size(); ++i) {
    if (sequence.arguments[i].name == argument) return static_cast<int>(i);
  }
  return error("%" + argument + " is no argument of the sequence");
}

Result<Task> Parser::task_body(const Sequence& sequence, std::string task_name) {
  Task task;
  task.name = std::move(task_name);
  SOTTO_ASSIGN_OR_RETURN(task.fifo, name(TokenKind::kSymbol, "a fifo"));
  SOTTO_RETURN_IF_ERROR(expect("{"));
  SOTTO_RETURN_IF_ERROR(expect("aie.dma_bd"));
  SOTTO_RETURN_IF_ERROR(expect("("));
  SOTTO_ASSIGN_OR_RETURN(const std::string buffer, name(TokenKind::kValue, "a host buffer"));
  SOTTO_ASSIGN_OR_RETURN(task.argument, argument_index(sequence, buffer));
  SOTTO_RETURN_IF_ERROR(expect(":"));
  SOTTO_RETURN_IF_ERROR(memref().status());
  SOTTO_RETURN_IF_ERROR(expect("offset"));
  SOTTO_RETURN_IF_ERROR(expect("="));
  SOTTO_ASSIGN_OR_RETURN(task.offset, number());
  SOTTO_RETURN_IF_ERROR(expect("len"));
  SOTTO_RETURN_IF_ERROR(expect("="));
  SOTTO_ASSIGN_OR_RETURN(task.len, number());
  if (task.offset < 0 || task.offset > kMaxDistance || task.len < 0 || task.len > kMaxDistance) {
    return error("offset or length out of range");
  }
  if (accept("sizes")) {
    SOTTO_RETURN_IF_ERROR(expect("="));
    SOTTO_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, number_list());
    SOTTO_RETURN_IF_ERROR(expect("strides"));
    SOTTO_RETURN_IF_ERROR(expect("="));
    SOTTO_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, number_list());
    if (sizes.size() != strides.size() || sizes.size() > 4)
      return error("sizes and strides do not match");
    // Fewer than four: the missing outer ones run once.
    task.dims.assign(4 - sizes.size(), Dim{1, 0});
    for (size_t i = 0; i < sizes.size(); ++i)
      task.dims.push_back({sizes[i], strides[i]});
  }
  SOTTO_RETURN_IF_ERROR(expect(")"));
  SOTTO_RETURN_IF_ERROR(expect("aie.end"));
  SOTTO_RETURN_IF_ERROR(expect("}"));
  SOTTO_ASSIGN_OR_RETURN(const auto attrs, attributes());
  const auto token = attrs.find("issue_token");
  task.issue_token = token != attrs.end() && token->second == "true";
  SOTTO_ASSIGN_OR_RETURN(const int64_t repeat, attribute_number(attrs, "repeat_count", 0));
  if (repeat < 0 || repeat > 100000) return error("repeat_count out of range");
  task.repeat_count = static_cast<int>(repeat);
  return task;
}

}  // namespace sotto::npu
