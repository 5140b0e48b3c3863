// Errors that point into a text: "FILE:LINE:COLUMN: reason", the line, a caret under the cause.
#pragma once

#include <charconv>
#include <string>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::test {

// Returns the message of such an error, without the lines that show the text. The caret must stand
// under the column that it names.
inline std::string first_line_of_pointed(const std::string& error) {
  CAPTURE(error);
  const std::size_t line = error.find('\n');
  REQUIRE(line != std::string::npos);
  const std::size_t caret = error.find('\n', line + 1);
  REQUIRE(caret != std::string::npos);
  CHECK(error.find('\n', caret + 1) == std::string::npos);
  const std::size_t digits = error.find(':', error.find(':') + 1) + 1;
  std::size_t column = 0;
  std::from_chars(error.data() + digits, error.data() + line, column);
  const bool is_shortened = error.substr(line + 1).starts_with("  ...");
  if (!is_shortened) CHECK(error.find('^', caret) - caret == 2 + column);
  return error.substr(0, line);
}

}  // namespace sojourn::test
