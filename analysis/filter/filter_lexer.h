// Cuts an expression into numbers, names and symbols. After a keyword whose value is a text (point,
// dir, ...) the parser asks for a pattern instead: there "rlc.tx--mac.*" is one word and needs no
// quotes. Borrows the text.
#pragma once

#include <string_view>
#include <utility>

#include "analysis/base/result.h"
#include "analysis/base/time_text.h"
#include "analysis/filter/syntax.h"
#include "analysis/language/tokenizer.h"

namespace sojourn::filter {

struct Token : language::Token {
  Token() = default;
  explicit Token(language::Token token) : language::Token(std::move(token)) {}

  Number number = 0;
  Unit unit = Unit::kPlain;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text);

  Result<Token> next();
  Result<Pattern> pattern();  // a place, a point or a glob, quoted or not
  // Returns whether a pattern comes next, and not a number, a call or a set.
  bool at_pattern() const;
  bool at_set() const;
  const language::SourceText& source() const { return tokenizer_.source(); }

 private:
  Result<Token> number();
  std::string_view unit_after(std::size_t digits) const;
  std::string_view rest_behind_blanks() const;

  language::Tokenizer tokenizer_;
};

}  // namespace sojourn::filter
