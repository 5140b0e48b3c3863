// `sojourn ab`: what it refuses. Recordings need root and eBPF: tests/live/ab_test.cpp.
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

void refuses(std::vector<std::string> arguments, const std::string& words) {
  arguments.insert(arguments.begin(), "ab");
  const test::Ended ended = sojourn(std::move(arguments));
  CAPTURE(words, ended.err);
  CHECK(ended.exit_code == 2);
  CHECK(ended.out.empty());
  CHECK(ended.err.contains(words));
}

TEST_CASE("ab wants two commands, or two processes and a time") {
  refuses({}, "give either two commands");
  refuses({"-p", "1", "-p", "2", "--for", "1s", "--", "a", "--", "b"}, "give either two commands");
  refuses({"--", "a"}, "two commands are compared");
  refuses({"--", "a", "--"}, "two commands are compared");
  refuses({"--", "--", "b"}, "two commands are compared");
  refuses({"--", "a", "--", "b", "--", "c"}, "more than two commands");
  refuses({"-p", "1", "--for", "1s"}, "two processes are compared");
  refuses({"-p", "1", "-p", "2"}, "as long as --for says");
}

TEST_CASE("ab refuses what cannot be compared before anything is recorded") {
  refuses({"--runs", "1", "--", "a", "--", "b"}, "--runs");
  refuses({"--for", "5", "--", "a", "--", "b"}, "--for");
  refuses({"--fail-on", "p99(X) > 5", "--", "a", "--", "b"}, "--fail-on");
}

TEST_CASE("ab refuses ends that do not go together") {
  refuses({"--max-runs", "5", "--", "a", "--", "b"}, "--max-runs requires --until-certain");
  refuses({"--max-time", "5s", "--", "a", "--", "b"}, "--max-time requires --until-certain");
  refuses({"--until-certain", "--runs", "5", "--", "a", "--", "b"}, "excludes");
  refuses({"--until-certain", "--max-runs", "1", "--", "a", "--", "b"}, "--max-runs");
  refuses({"--until-certain", "--unit", "block", "--", "a", "--", "b"},
          "--until-certain compares runs");
}

TEST_CASE("a run that cannot be recorded is named, and nothing is compared") {
  const test::Ended ended = sojourn({"ab", "--runs", "2", "--", "/nowhere/a", "--", "/nowhere/b"});
  CHECK(ended.exit_code == 1);
  CHECK(ended.out.empty());
  CHECK(ended.err.contains("run 1 of 4 (A)"));
  CHECK(ended.err.contains("/nowhere/a"));
}

}  // namespace
}  // namespace sojourn::cli_tests
