// A text in one of the little languages (filters, schemas, rules, maps), and how an error points
// into it. The text is not trusted: any bytes may be in it. A SourceText borrows the text and its
// name, and never changes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "analysis/base/result.h"

namespace sojourn::language {

// Bytes of a text.
struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct Position {
  std::size_t line = 1;
  std::size_t column = 1;  // in characters; a tab is one

  void pass(char c);
};

class SourceText {
 public:
  // `name` is the text's name in errors: a file's name, or nothing for a command-line argument.
  explicit SourceText(std::string_view text, std::string_view name = {})
      : text_(text), name_(name) {}

  std::string_view text() const { return text_; }

  // Both walk through the text: they are for errors.
  Position position_of(std::size_t offset) const;
  std::size_t offset_of(Position position) const;

  // "rules.txt:3:9", or "column 9".
  std::string name_of(Position position) const;

  // An error of three lines: the place and `what`, the line of the text, and a caret under the
  // first character of the range with a tilde under each other one.
  std::unexpected<Error> complain(TextRange at, std::string_view what) const;

  // An error that says "expected ..., found ...".
  std::unexpected<Error> expected(TextRange at, std::string_view wanted,
                                  std::string_view found) const;

 private:
  std::string_view text_;
  std::string_view name_;
};

}  // namespace sojourn::language
