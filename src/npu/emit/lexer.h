// Tokens of the MLIR subset that sotto writes.
#ifndef SOTTO_NPU_EMIT_LEXER_H_
#define SOTTO_NPU_EMIT_LEXER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "sotto/status.h"

namespace sotto::npu {

enum class TokenKind {
  kEnd,
  kWord,    ///< Identifier, may hold dots: aie.objectfifo.link, f32
  kValue,   ///< %name, without the percent sign
  kSymbol,  ///< @name, without the at sign
  kNumber,  ///< Decimal, may be negative
  kString,  ///< Without the quotes
  kMemref,  ///< memref<...>: the text between the angle brackets
  kPunct,   ///< One of ( ) { } [ ] < > : , = ! ? or "->"
};

struct LexToken {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  int64_t number = 0;
  int line = 1;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }

  [[nodiscard]] const LexToken& peek() const { return token_; }
  /// The current token; moves on to the next.
  LexToken take();
  /// kCorrupt with the line when the text held a character that starts no token.
  [[nodiscard]] Status status() const { return status_; }

 private:
  void advance();
  void skip_space();
  template <typename Predicate>
  std::string_view take_while(Predicate predicate);

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  LexToken token_;
  Status status_;
};

}  // namespace sotto::npu

#endif  // SOTTO_NPU_EMIT_LEXER_H_
