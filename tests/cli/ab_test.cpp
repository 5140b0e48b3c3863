// The arguments that `sojourn ab` refuses. Recordings need root and eBPF: tests/live/ab_test.cpp.
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/cli/programs.h"
#include "tests/support/sys_tree.h"

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

TEST_CASE("a sweep wants one command or process, and frequencies that are some") {
  refuses({"--sweep-frequency"}, "records one command (-- CMD) or one process (-p PID)");
  refuses({"--sweep-frequency", "--", "a", "--", "b"}, "not two");
  refuses({"--sweep-frequency", "-p", "1", "-p", "2", "--for", "1s"}, "not two");
  refuses({"--sweep-frequency", "-p", "1"}, "as long as --for says");
  refuses({"--sweep-frequency", "800", "--", "a"}, "\"800\" is not a frequency");
  refuses({"--sweep-frequency", "1GHz", "--", "a"}, "name two at least");
  refuses({"--sweep-frequency", "1GHz,1000MHz", "--", "a"}, "twice");
  refuses({"--sweep-frequency", "1GHz,2GHz,3GHz", "--", "a"}, "--keep DIR");
  refuses({"--sys", "/sys", "--", "a", "--", "b"}, "--sys goes with --sweep-frequency");
}

TEST_CASE("without settable frequencies nothing is recorded, and the error names an alternative") {
  const test::SysTree none;
  const test::Ended absent = sojourn({"ab", "--sweep-frequency", "--sys", none.path(), "--", "a"});
  require_error(absent, "no frequency can be set here");
  CHECK(absent.err.contains("sojourn diff fast*.sjt --against slow*.sjt"));
  test::SysTree sys;
  sys.policy(0, 800'000, 3'500'000);
  require_error(sojourn({"ab", "--sweep-frequency", "1GHz,4GHz", "--sys", sys.path(), "--", "a"}),
                "4000MHz cannot be set: these CPUs go from 800MHz to 3500MHz");
  test::SysTree fixed;
  fixed.policy(0, 800'000, 800'000);
  require_error(sojourn({"ab", "--sweep-frequency", "--sys", fixed.path(), "--", "a"}),
                "no two frequencies");
}

TEST_CASE("ab refuses traces that cannot be compared before anything is recorded") {
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
