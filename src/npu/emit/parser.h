// The parser behind parse_design(): one class, its methods in three files by level of the text.
#ifndef SOTTO_NPU_EMIT_PARSER_H_
#define SOTTO_NPU_EMIT_PARSER_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "npu/design/design.h"
#include "npu/emit/lexer.h"
#include "sotto/status.h"

namespace sotto::npu {

// Loops nest a few levels deep in any design; the bound keeps hostile text off the stack.
inline constexpr int kMaxDepth = 32;

using Attributes = std::map<std::string, std::string, std::less<>>;

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}
  Result<Design> run();

 private:
  struct Value {  // What a %name of a core program or sequence stands for
    std::variant<int64_t, std::string> content;
  };
  using Scope = std::map<std::string, Value, std::less<>>;

  // Grammar helpers.
  [[nodiscard]] Status error(const std::string& what) const;
  [[nodiscard]] bool at(std::string_view punct_or_word) const;
  bool accept(std::string_view punct_or_word);
  Status expect(std::string_view punct_or_word);
  Result<std::string> name(TokenKind kind, std::string_view what);
  Result<int64_t> number();
  Result<std::vector<int64_t>> number_list();      // [1, 2]
  Result<std::vector<std::string>> symbol_list();  // [@a, @b]
  Result<std::vector<Dim>> transform();            // [<size = 1, stride = 2>, ...]
  Result<ObjectType> memref();
  Result<Attributes> attributes();  // {key = value : type, ...}
  Status skip_type();               // after ':', up to the end of the statement

  // Device level.
  Status device_item();
  Status defined_item(const std::string& value);
  Status kernel();
  Status fifo();
  Status link();
  Status flow();
  Result<Tile> tile_reference();
  Status core(Tile tile);

  // Core programs.
  Result<std::vector<Statement>> block(Scope scope, int depth);
  Result<Statement> loop(const Scope& scope, int depth);
  Status value_statement(Scope& scope, std::vector<Statement>& out);
  Result<std::pair<std::string, std::pair<Port, int>>> fifo_access();  // @f(Consume, 1)
  Result<Statement> call(const Scope& scope);
  Result<Statement> use_lock(const Scope& scope);
  Result<Bound> bound(const Scope& scope);

  // Sequences.
  Status sequence();
  Status sequence_value(Sequence& out, Scope& scope, std::map<std::string, Task>& configured);
  Status memcpy_nd(Sequence& out);
  Status wait(Sequence& out);
  Result<int> argument_index(const Sequence& sequence, const std::string& argument) const;
  Result<Task> task_body(const Sequence& sequence, std::string task_name);

  Lexer lexer_;
  Design design_;
  std::map<std::string, Tile, std::less<>> tiles_;
  std::map<std::string, std::string, std::less<>>
      memory_;  // %value of a buffer or lock -> its symbol name
};

/// The attribute as a number, `otherwise` when it is absent.
Result<int64_t> attribute_number(const Attributes& attributes, std::string_view key,
                                 int64_t otherwise);
/// Type of "bf16", "f32", ...
Result<ElementType> element_type(std::string_view text);

}  // namespace sotto::npu

#endif  // SOTTO_NPU_EMIT_PARSER_H_
