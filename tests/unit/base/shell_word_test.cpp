#include "analysis/base/shell_word.h"

#include <catch2/catch_test_macros.hpp>

namespace sojourn {
namespace {

TEST_CASE("a plain name of a file is a word as it is") {
  for (const char* const name :
       {"run.sjt", "/tmp/a-b_c/run.sjt.partial", "-", "tcp://127.0.0.1:9000", "unix:/run/gnb.sock",
        "../2026+1,x@y%.sjt"})
    CHECK(shell_word(name) == name);
}

TEST_CASE("any other name is one word for a shell, and no command or option") {
  CHECK(shell_word("my run.sjt") == "'my run.sjt'");
  CHECK(shell_word("a;rm -rf b.sjt") == "'a;rm -rf b.sjt'");
  CHECK(shell_word("$(id)`id`.sjt") == "'$(id)`id`.sjt'");
  CHECK(shell_word("it's.sjt") == R"('it'\''s.sjt')");
  CHECK(shell_word("*.sjt") == "'*.sjt'");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("-x.sjt") == "'./-x.sjt'");
  CHECK(shell_word("z\xc3\xbc"
                   "ge.sjt") ==
        "'z\xc3\xbc"
        "ge.sjt'");
}

TEST_CASE("no character of a word commands the terminal") {
  CHECK(shell_word("a\x1b[31m\n\x7f.sjt") == "'a?[31m??.sjt'");
}

}  // namespace
}  // namespace sojourn
