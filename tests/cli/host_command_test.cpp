// The arguments that `sojourn host` refuses, and `host diff` of files.
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

void require_usage(std::vector<std::string> arguments, const std::string& words) {
  arguments.insert(arguments.begin(), "host");
  const test::Ended ended = sojourn(std::move(arguments));
  CAPTURE(words);
  CHECK(ended.exit_code == 2);
  CHECK(ended.out.empty());
  CHECK(ended.err.contains(words));
}

// A profile with one measurement.
std::string profile(double median, const std::string& kernel) {
  const std::string at = std::to_string(median);
  const std::string low = std::to_string(median * 0.99);
  const std::string high = std::to_string(median * 1.01);
  return R"({"tool": "t", "machine": [{"id": "os.kernel", "name": "kernel", "value": ")" + kernel +
         R"("}], "measurements": [{"id": "calls.syscall", "group": "calls", "name": "system call",
      "unit": "ns", "measured": {"count": 9, "median": )" +
         at + ", \"q1\": " + low + ", \"q3\": " + high + "}}]}";
}

TEST_CASE("arguments that contradict each other are refused") {
  require_usage({"different", "a", "b"}, "diff BEFORE.json AFTER.json");
  require_usage({"diff", "a"}, "diff BEFORE.json AFTER.json");
  require_usage({"diff", "a", "b", "--quick"}, "diff measures nothing");
  require_usage({"--serve", "127.0.0.1:0", "--quick"}, "--serve only answers");
  require_usage({"--only", "clocks,sundials"}, "\"sundials\" is not one of clocks, calls");
  require_usage({"--only", "clocks", "--peer", "127.0.0.1:1"}, "--only has to name it");
  require_usage({"--only", "clocks", "--other", "/tmp"}, "--only has to name them");
}

TEST_CASE("two profiles are compared, as text and as JSON") {
  const test::TemporaryDirectory directory;
  test::write_contents(directory.path("a.json"), profile(100, "6.1"));
  test::write_contents(directory.path("b.json"), profile(150, "6.12"));
  const std::string text =
      output_of({"host", "diff", directory.path("a.json"), directory.path("b.json")});
  CHECK(text.contains("6.12"));
  CHECK(text.contains("+50.0 %"));
  CHECK(text.contains("apart, by one run each"));
  CHECK(text.contains("one run on a side"));
  const std::string json =
      output_of({"host", "diff", directory.path("a.json"), directory.path("b.json"), "--json"});
  CHECK(json.contains("\"difference\": \"apart\""));
}

TEST_CASE("several runs of a side stand with commas between them") {
  const test::TemporaryDirectory directory;
  std::string left;
  std::string right;
  for (int run = 0; run < 4; ++run) {
    const std::string number = std::to_string(run);
    test::write_contents(directory.path("a" + number), profile(100 + run, "6.1"));
    test::write_contents(directory.path("b" + number), profile(150 + run, "6.1"));
    left += (run == 0 ? "" : ",") + directory.path("a" + number);
    right += (run == 0 ? "" : ",") + directory.path("b" + number);
  }
  const std::string text = output_of({"host", "diff", left, right});
  CHECK(text.contains("changed (p 0.029)"));
  CHECK(text.contains("% +-2.2 %"));
  CHECK(text.contains("4 and 4 runs"));
  CHECK_FALSE(text.contains("one run on a side"));
}

TEST_CASE("a file that is no profile is refused by its name") {
  const test::TemporaryDirectory directory;
  const std::string good = directory.path("a.json");
  const std::string bad = directory.path("b.json");
  test::write_contents(good, profile(100, "6.1"));
  test::write_contents(bad, "[1, 2]");
  require_error(sojourn({"host", "diff", good, bad}), bad + ": no profile of a machine");
  require_error(sojourn({"host", "diff", directory.path("none"), good}), "No such file");
}

TEST_CASE("an invalid address is refused before anything is opened") {
  require_error(sojourn({"host", "--serve", "nowhere"}), "\"nowhere\" is not HOST:PORT");
}

}  // namespace
}  // namespace sojourn::cli_tests
