// Cuts an expression into numbers, names and symbols. After a word that stands for a text (point,
// dir, ...) the parser asks for a pattern instead: there "rlc.tx--mac.*" is one word and needs no
// quotes. The text is not trusted: any bytes may be in it. Borrows the text.
#pragma once

#include <string>
#include <string_view>

#include "analysis/base/result.h"
#include "analysis/base/time_text.h"
#include "analysis/filter/syntax.h"

namespace sojourn::filter {

struct Token {
  enum class Kind : std::uint8_t { kNumber, kName, kText, kSymbol, kEnd };

  Kind kind = Kind::kEnd;
  std::string_view spelling;  // as written
  std::string text;           // of a text in quotes, without them
  Number number = 0;
  Unit unit = Unit::kPlain;
  TextRange at;

  bool is(std::string_view symbol) const { return kind == Kind::kSymbol && spelling == symbol; }
  bool is_name(std::string_view name) const { return kind == Kind::kName && spelling == name; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<Token> next();
  Result<Pattern> pattern();  // a place, a point or a glob, quoted or not
  // Whether such a pattern comes next, and no number or call; or a set.
  bool at_pattern() const;
  bool at_set() const;
  std::string_view text() const { return text_; }

 private:
  void skip_blanks();
  Result<Token> quoted();
  Result<Token> number();
  TextRange unit_after(std::size_t number_end) const;
  Result<void> apply_unit(Token& token, const Decimal& value);
  Token take(Token::Kind kind, std::size_t end);

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace sojourn::filter
