#include "userspace/cli/manual/roff.h"

namespace sojourn::cli {
namespace {

// Roff turns plain quotes, dashes and accents into typographic ones, which shells do not understand
// when they are copied from a page.
std::string_view name_of(char letter) {
  switch (letter) {
    case '\\':
      return "\\(rs";
    case '-':
      return "\\-";
    case '\'':
      return "\\(aq";
    case '`':
      return "\\(ga";
    case '"':
      return "\\(dq";
    case '^':
      return "\\(ha";
    case '~':
      return "\\(ti";
    default:
      return {};
  }
}

void add(std::string& line, char letter) {
  if (const std::string_view name = name_of(letter); !name.empty())
    line += name;
  else
    line += letter;
}

// A dot at the beginning of a line would be a macro. (Apostrophes are escaped everywhere.)
std::string begun(std::string line) {
  if (line.starts_with('.')) line.insert(0, "\\&");
  return line;
}

}  // namespace

std::string roff_text(std::string_view text) {
  std::string line;
  bool bold = false;
  for (const char letter : text) {
    if (letter == '`') {
      bold = !bold;
      line += bold ? "\\fB" : "\\fR";
    } else {
      add(line, letter);
    }
  }
  return begun(std::move(line));
}

std::string roff_literal(std::string_view text) {
  std::string line;
  for (const char letter : text) add(line, letter);
  return begun(std::move(line));
}

}  // namespace sojourn::cli
