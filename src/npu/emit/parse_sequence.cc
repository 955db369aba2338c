// Runtime sequences.
#include <map>
#include <utility>

#include "npu/emit/parser.h"

namespace sotto::npu {

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

Result<Task> Parser::task_body(const Sequence& sequence, std::string task_name) {
  Task task;
  task.name = std::move(task_name);
  SOTTO_ASSIGN_OR_RETURN(task.fifo, name(TokenKind::kSymbol, "a fifo"));
  SOTTO_RETURN_IF_ERROR(expect("{"));
  SOTTO_RETURN_IF_ERROR(expect("aie.dma_bd"));
  SOTTO_RETURN_IF_ERROR(expect("("));
  SOTTO_ASSIGN_OR_RETURN(const std::string buffer, name(TokenKind::kValue, "a host buffer"));
  task.argument = -1;
  for (size_t i = 0; i < sequence.arguments.size(); ++i) {
    if (sequence.arguments[i].name == buffer) task.argument = static_cast<int>(i);
  }
  if (task.argument < 0) return error("%" + buffer + " is no argument of the sequence");
  SOTTO_RETURN_IF_ERROR(expect(":"));
  SOTTO_RETURN_IF_ERROR(memref().status());
  SOTTO_RETURN_IF_ERROR(expect("offset"));
  SOTTO_RETURN_IF_ERROR(expect("="));
  SOTTO_ASSIGN_OR_RETURN(task.offset, number());
  SOTTO_RETURN_IF_ERROR(expect("len"));
  SOTTO_RETURN_IF_ERROR(expect("="));
  SOTTO_ASSIGN_OR_RETURN(task.len, number());
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
