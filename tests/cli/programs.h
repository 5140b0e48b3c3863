// Runs `sojourn` on traces that are made from the fixtures of tests/golden, in a temporary
// directory. A file's size depends on the compressor's version, so it is not compared.
#pragma once

#include <string>
#include <vector>

#include "tests/support/child.h"

namespace sojourn::cli_tests {

class Traces {
 public:
  // Each is made at its first use: "radio", "lossy".
  std::string path(const std::string& fixture) const;

  // A directory for a test's own files.
  const test::TemporaryDirectory& directory() const { return directory_; }

 private:
  test::TemporaryDirectory directory_;
};

test::Ended sojourn(std::vector<std::string> arguments);

// Standard output of a run that must succeed in silence.
std::string output_of(std::vector<std::string> arguments);

// Checks that it failed at run time with one line on stderr that contains the words, and with
// nothing on stdout.
void require_error(const test::Ended& ended, const std::string& words);
// Like require_error(), with two more lines that show the place in a text.
void require_pointed_error(const test::Ended& ended, const std::string& words);

// Compares with expected/NAME.
void compare(const std::string& name, const std::string& text);

}  // namespace sojourn::cli_tests
