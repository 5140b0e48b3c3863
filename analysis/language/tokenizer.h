// Cuts a text into words, quoted texts and symbols, by a table of a language's characters. The
// language itself reads what no table describes (numbers with units, patterns), from the
// tokenizer's position. A Tokenizer borrows its text and its grammar. The text must outlive it and
// its tokens. A copy of a Tokenizer looks ahead. It belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "analysis/base/result.h"
#include "analysis/language/source_text.h"

namespace sojourn::language {

struct Token {
  enum class Kind : std::uint8_t {
    kWord,
    kNumber,  // only of languages that read them by themselves
    kText,    // in quotes
    kSymbol,
    kOther,  // one byte that begins nothing else
    kEnd,
  };

  Kind kind = Kind::kEnd;
  std::string_view spelling;  // as written; of a text with its quotes
  std::string text;           // the contents of a text
  TextRange at;
  Position place;

  bool is(std::string_view symbol) const { return kind == Kind::kSymbol && spelling == symbol; }
  bool is_word(std::string_view word) const { return kind == Kind::kWord && spelling == word; }
};

class Tokenizer;

struct Grammar {
  std::string_view blanks = " \t";
  bool (*is_word)(char c) = nullptr;
  std::span<const std::string_view> symbols = {};  // the longest first
  std::string_view quotes = {};
  // Reads the rest of a text, whose first quote is at `begin` and was passed, with its last quote.
  Result<std::string> (*read_text)(Tokenizer& tokenizer, std::size_t begin) = nullptr;
  std::string_view comment = {};    // begins a comment that ends with its line
  bool has_block_comments = false;  // from "/*" to "*/"; they nest
};

class Tokenizer {
 public:
  Tokenizer(const SourceText& source, const Grammar& grammar)
      : source_(source), grammar_(&grammar), rest_(source.text()) {}

  // The next token behind blanks and comments.
  Result<Token> next();

  const SourceText& source() const { return source_; }
  std::string_view rest() const { return rest_; }
  char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  std::size_t offset() const { return source_.text().size() - rest_.size(); }
  Result<void> skip_blanks();
  void advance(std::size_t bytes);
  Token take(Token::Kind kind, std::size_t bytes);

 private:
  Result<void> skip_block_comment();
  Result<Token> take_text();

  SourceText source_;
  const Grammar* grammar_;
  std::string_view rest_;
  Position place_;
};

}  // namespace sojourn::language
