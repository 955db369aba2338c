// Core programs.
#include <limits>
#include <utility>

#include "npu/emit/parser.h"

namespace sotto::npu {

Status Parser::core(Tile tile) {
  CoreProgram program;
  program.tile = tile;
  SOTTO_RETURN_IF_ERROR(expect("{"));
  SOTTO_ASSIGN_OR_RETURN(program.body, block({}, 0));
  SOTTO_RETURN_IF_ERROR(expect("aie.end"));
  SOTTO_RETURN_IF_ERROR(expect("}"));
  SOTTO_ASSIGN_OR_RETURN(const auto attrs, attributes());
  SOTTO_ASSIGN_OR_RETURN(
      program.stack_bytes,
      attribute_number(attrs, "stack_size", generation(design_.generation).default_stack_bytes));
  design_.programs.push_back(std::move(program));
  return {};
}

Result<std::vector<Statement>> Parser::block(Scope scope, int depth) {
  if (depth > kMaxDepth) return error("loops nest too deep");
  std::vector<Statement> out;
  while (!at("}") && !at("aie.end")) {
    if (accept("scf.for")) {
      SOTTO_ASSIGN_OR_RETURN(Statement statement, loop(scope, depth));
      out.push_back(std::move(statement));
    } else if (accept("func.call")) {
      SOTTO_ASSIGN_OR_RETURN(Statement statement, call(scope));
      out.push_back(std::move(statement));
    } else if (accept("aie.objectfifo.release")) {
      SOTTO_ASSIGN_OR_RETURN(const auto access, fifo_access());
      out.emplace_back(Release{access.first, access.second.first, access.second.second});
    } else if (accept("aie.use_lock")) {
      SOTTO_ASSIGN_OR_RETURN(Statement statement, use_lock(scope));
      out.push_back(std::move(statement));
    } else if (lexer_.peek().kind == TokenKind::kValue) {
      SOTTO_RETURN_IF_ERROR(value_statement(scope, out));
    } else {
      return error("expected a statement of a core program");
    }
  }
  return out;
}

Result<Bound> Parser::bound(const Scope& scope) {
  const auto it = scope.find(lexer_.peek().text);
  if (lexer_.peek().kind != TokenKind::kValue || it == scope.end())
    return error("expected a known value");
  lexer_.take();
  return Bound{it->second.content};
}

Result<Statement> Parser::loop(const Scope& scope, int depth) {
  Loop out;
  SOTTO_ASSIGN_OR_RETURN(out.counter, name(TokenKind::kValue, "a loop counter"));
  SOTTO_RETURN_IF_ERROR(expect("="));
  SOTTO_ASSIGN_OR_RETURN(out.from, bound(scope));
  SOTTO_RETURN_IF_ERROR(expect("to"));
  SOTTO_ASSIGN_OR_RETURN(out.to, bound(scope));
  SOTTO_RETURN_IF_ERROR(expect("step"));
  SOTTO_ASSIGN_OR_RETURN(const Bound step, bound(scope));
  if (step != Bound{int64_t{1}}) return error("only loops of step 1 are read");
  if (out.to == Bound{std::numeric_limits<int64_t>::max()}) {
    out.forever = true;
    out.to = Bound{};
  }
  SOTTO_RETURN_IF_ERROR(expect("{"));
  Scope inner = scope;
  inner[out.counter] = {out.counter};
  SOTTO_ASSIGN_OR_RETURN(out.body, block(std::move(inner), depth + 1));
  SOTTO_RETURN_IF_ERROR(expect("}"));
  return Statement(std::move(out));
}

Status Parser::value_statement(Scope& scope, std::vector<Statement>& out) {
  const std::string value(lexer_.take().text);
  SOTTO_RETURN_IF_ERROR(expect("="));
  if (accept("arith.constant")) {
    SOTTO_ASSIGN_OR_RETURN(const int64_t constant, number());
    scope[value] = {constant};
    SOTTO_RETURN_IF_ERROR(expect(":"));
    return skip_type();
  }
  if (accept("arith.index_cast")) {  // the same number in another integer type
    const auto it = scope.find(lexer_.peek().text);
    if (lexer_.peek().kind != TokenKind::kValue || it == scope.end())
      return error("expected a known value");
    lexer_.take();
    const Value same = it->second;
    scope[value] = same;
    SOTTO_RETURN_IF_ERROR(expect(":"));
    return skip_type();
  }
  if (accept("aie.objectfifo.acquire")) {
    SOTTO_ASSIGN_OR_RETURN(const auto access, fifo_access());
    SOTTO_RETURN_IF_ERROR(expect(":"));
    SOTTO_RETURN_IF_ERROR(skip_type());
    // The object takes the name of the access that follows; several accesses of one acquire share
    // it.
    out.emplace_back(Acquire{access.first, access.second.first, value, access.second.second});
    scope[value] = {value};
    return {};
  }
  if (accept("aie.objectfifo.subview.access")) {
    const auto it = scope.find(lexer_.peek().text);
    if (lexer_.peek().kind != TokenKind::kValue || it == scope.end())
      return error("expected an acquired subview");
    lexer_.take();
    SOTTO_ASSIGN_OR_RETURN(const std::vector<int64_t> index, number_list());
    if (index != std::vector<int64_t>{0})
      return error("only the first object of a subview is read");
    const Value same = it->second;
    scope[value] = same;
    SOTTO_RETURN_IF_ERROR(expect(":"));
    return skip_type();
  }
  if (accept("memref.load")) {
    Load load;
    load.value = value;
    const auto buffer = memory_.find(lexer_.peek().text);
    if (lexer_.peek().kind != TokenKind::kValue || buffer == memory_.end())
      return error("expected a buffer");
    lexer_.take();
    load.buffer = buffer->second;
    SOTTO_RETURN_IF_ERROR(expect("["));
    SOTTO_ASSIGN_OR_RETURN(const Bound index, bound(scope));
    if (!std::holds_alternative<int64_t>(index.value))
      return error("only loads of a constant index are read");
    load.index = std::get<int64_t>(index.value);
    SOTTO_RETURN_IF_ERROR(expect("]"));
    SOTTO_RETURN_IF_ERROR(expect(":"));
    scope[value] = {value};
    out.emplace_back(std::move(load));
    return skip_type();
  }
  return error("expected the operation that defines %" + value);
}

Result<std::pair<std::string, std::pair<Port, int>>> Parser::fifo_access() {
  SOTTO_ASSIGN_OR_RETURN(std::string fifo_name, name(TokenKind::kSymbol, "a fifo"));
  SOTTO_RETURN_IF_ERROR(expect("("));
  Port port = Port::kConsume;
  if (accept("Produce")) {
    port = Port::kProduce;
  } else {
    SOTTO_RETURN_IF_ERROR(expect("Consume"));
  }
  SOTTO_RETURN_IF_ERROR(expect(","));
  SOTTO_ASSIGN_OR_RETURN(const int64_t count, number());
  if (count < 0 || count > 4096) return error("object count out of range");
  SOTTO_RETURN_IF_ERROR(expect(")"));
  return std::make_pair(std::move(fifo_name), std::make_pair(port, static_cast<int>(count)));
}

Result<Statement> Parser::call(const Scope& scope) {
  Call out;
  SOTTO_ASSIGN_OR_RETURN(out.kernel, name(TokenKind::kSymbol, "a kernel"));
  SOTTO_RETURN_IF_ERROR(expect("("));
  while (!accept(")")) {
    if (!out.arguments.empty()) SOTTO_RETURN_IF_ERROR(expect(","));
    SOTTO_ASSIGN_OR_RETURN(const std::string argument, name(TokenKind::kValue, "an argument"));
    if (const auto it = scope.find(argument); it != scope.end()) {
      if (const auto* constant = std::get_if<int64_t>(&it->second.content)) {
        out.arguments.emplace_back(*constant);
      } else {
        out.arguments.emplace_back(std::get<std::string>(it->second.content));
      }
    } else if (const auto memory = memory_.find(argument); memory != memory_.end()) {
      out.arguments.emplace_back(memory->second);
    } else {
      return error("%" + argument + " is not defined here");
    }
  }
  SOTTO_RETURN_IF_ERROR(expect(":"));
  SOTTO_RETURN_IF_ERROR(skip_type());
  return Statement(std::move(out));
}

Result<Statement> Parser::use_lock(const Scope& scope) {
  UseLock out;
  SOTTO_RETURN_IF_ERROR(expect("("));
  const auto lock = memory_.find(lexer_.peek().text);
  if (lexer_.peek().kind != TokenKind::kValue || lock == memory_.end())
    return error("expected a lock");
  lexer_.take();
  out.lock = lock->second;
  SOTTO_RETURN_IF_ERROR(expect(","));
  if (accept("Release")) {
    out.acquire = false;
  } else {
    SOTTO_RETURN_IF_ERROR(expect("AcquireGreaterEqual"));
  }
  SOTTO_RETURN_IF_ERROR(expect(","));
  SOTTO_ASSIGN_OR_RETURN(const Bound value, bound(scope));
  const auto* constant = std::get_if<int64_t>(&value.value);
  if (constant == nullptr || *constant < 0 || *constant > 1000)
    return error("a lock value must be a small constant");
  out.value = static_cast<int>(*constant);
  SOTTO_RETURN_IF_ERROR(expect(")"));
  return Statement(std::move(out));
}

}  // namespace sotto::npu
