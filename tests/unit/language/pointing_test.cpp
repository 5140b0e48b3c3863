// The place of an error's caret, in any text.
#include <catch2/catch_test_macros.hpp>

#include "analysis/language/source_text.h"

namespace sojourn::language {
namespace {

std::string pointed(std::string_view text, TextRange at, std::string_view name = {}) {
  return SourceText(text, name).complain(at, "wrong").error().text();
}

TEST_CASE("an error in a file names the place and shows the line, with a caret under the cause") {
  CHECK(pointed("one\ntwo three\nfour\n", {8, 13}, "my.rules") ==
        "my.rules:2:5: wrong\n"
        "  two three\n"
        "      ^~~~~");
  CHECK(SourceText("a b", "f").expected({2, 3}, "\"c\"", "\"b\"").error().text() ==
        "f:1:3: expected \"c\", found \"b\"\n  a b\n    ^");
}

TEST_CASE("an error in an argument names the column, and the line where there are several") {
  CHECK(pointed("one two", {4, 7}) == "column 5: wrong\n  one two\n      ^~~");
  CHECK(pointed("one\ntwo", {4, 7}) == "line 2, column 1: wrong\n  two\n  ^~~");
}

TEST_CASE("a caret stands behind the end of a line or a text, and stays within its line") {
  CHECK(pointed("ab\ncd", {2, 2}) == "column 3: wrong\n  ab\n    ^");
  CHECK(pointed("ab\ncd", {5, 5}) == "line 2, column 3: wrong\n  cd\n    ^");
  CHECK(pointed("ab\ncd", {99, 99}) == "line 2, column 3: wrong\n  cd\n    ^");
  CHECK(pointed("ab\ncd", {1, 5}) == "column 2: wrong\n  ab\n   ^");
  CHECK(pointed("", {0, 0}) == "column 1: wrong\n  \n  ^");
}

TEST_CASE("every character takes one column, and nothing reaches a terminal that could harm it") {
  // A letter of two bytes, a tab, an escape and half a letter.
  CHECK(pointed("\xc3\xbc\t\x1b\x80x", {5, 6}) == "column 4: wrong\n  ? ?x\n     ^");
}

TEST_CASE("a long line is shown around the cause") {
  std::string text(300, 'a');
  text[150] = 'b';
  const std::string error = pointed(text, {150, 151});
  const std::size_t line = error.find('\n') + 1;
  const std::size_t caret = error.find('\n', line) + 1;
  CHECK(error.substr(line, caret - line).find('b') == error.substr(caret).find('^'));
  CHECK(error.substr(line, caret - line - 1).starts_with("  ..."));
  CHECK(error.substr(line, caret - line - 1).ends_with("..."));
  CHECK(error.ends_with("^"));
  // No more tildes than characters are shown.
  CHECK(pointed(text, {150, 300}).size() <= caret + caret - line + 1);
}

TEST_CASE("a place is found again by its line and column") {
  const SourceText text(
      "ab\n\xc3\xbc"
      "cd\n");
  for (const std::size_t offset : {0U, 1U, 2U, 3U, 5U, 6U, 7U, 8U}) {
    CAPTURE(offset);
    CHECK(text.offset_of(text.position_of(offset)) == offset);
  }
  // Beyond the end of a line, and of the text.
  CHECK(text.offset_of({.line = 1, .column = 9}) == 2);
  CHECK(text.offset_of({.line = 9, .column = 1}) == 8);
}

}  // namespace
}  // namespace sojourn::language
