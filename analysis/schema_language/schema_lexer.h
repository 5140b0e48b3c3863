// Cuts a schema into words, texts and symbols, each with its place in the file. White space and
// comments are Barrelfish's: `//` to the end of the line, and `/* */`, which nest. The schema is
// not trusted: any bytes may be in it. A Lexer borrows the schema, which must outlive it and its
// tokens; it belongs to one thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "analysis/base/result.h"

namespace sojourn::schema_language {

struct Position {
  std::size_t line = 1;
  std::size_t column = 1;  // in characters; a tab is one

  bool operator==(const Position&) const = default;
};

struct Token {
  // A word also holds the dots of a place's name.
  enum class Kind { kWord, kText, kSymbol, kEnd };

  Kind kind = Kind::kEnd;
  std::string_view spelling;  // as written; of a text with its quotes
  std::string text;           // what a text says, its escapes resolved
  Position at;

  bool is_symbol(std::string_view symbol) const {
    return kind == Kind::kSymbol && spelling == symbol;
  }
  bool is_word(std::string_view word) const { return kind == Kind::kWord && spelling == word; }
};

// A token as an error names it; printable and short, whatever it was.
std::string describe(const Token& token);

// `FILE:LINE:COLUMN: expected ..., found ...`
std::unexpected<Error> expected(std::string_view file, Position at, std::string_view wanted,
                                std::string_view found);

class Lexer {
 public:
  // `file` is what errors call the schema.
  Lexer(std::string_view schema, std::string_view file) : rest_(schema), file_(file) {}

  Result<Token> next();

 private:
  Result<void> skip_blanks();
  Result<void> skip_comment();
  Result<Token> read_text();
  Result<void> read_escape(std::string& text);
  void advance(std::size_t bytes);
  Token take(Token::Kind kind, std::size_t bytes);
  std::string describe_byte() const;

  std::string_view rest_;
  std::string_view file_;
  Position at_;
};

}  // namespace sojourn::schema_language
