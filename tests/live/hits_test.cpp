// The messages of a running capture about points that are hit too often, and about those that never
// are.
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

constexpr const char* kMap = R"(
[[point]]
function = "rlc_poll_rx_queue"
[[point]]
function = "rlc_send_pdu"
[[point]]
function = "rlc_send_status_pdu"
)";

std::size_t times(const std::string& text, const std::string& words) {
  std::size_t count = 0;
  for (auto at = text.find(words); at != text.npos; at = text.find(words, at + 1)) ++count;
  return count;
}

test::Ended record_hot_program(const std::vector<std::string>& how) {
  const test::TemporaryDirectory directory;
  test::write_contents(directory.path("hot.toml"), kMap);
  test::Child target({std::string(SJ_COARSE_SUBJECTS) + "/hot-O0"});
  REQUIRE(target.wait_for_output("ready"));
  std::vector<std::string> arguments = {"record",
                                        "-p",
                                        std::to_string(target.pid()),
                                        "--map",
                                        directory.path("hot.toml"),
                                        "-o",
                                        directory.path("run.sjt")};
  arguments.insert(arguments.end(), how.begin(), how.end());
  test::Ended ended = sojourn(arguments);
  CHECK(target.running());
  return ended;
}

TEST_CASE("a point that is hit too often and a silent one are each reported once while recording") {
  need_root();
  const test::Ended ended = record_hot_program({"--budget", "none", "--for", "6s"});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(times(ended.err, "rlc_poll_rx_queue is hit ") == 1);
  CHECK(ended.err.contains("--budget 5"));
  CHECK(ended.err.contains("--points '!rlc_poll_rx_queue'"));
  CHECK_FALSE(ended.err.contains("rlc_send_pdu is hit "));
  CHECK(times(ended.err, "not hit so far: rlc_send_status_pdu: inlined") == 1);
  CHECK(times(ended.err, "never hit: rlc_send_status_pdu: inlined") == 1);
}

TEST_CASE("a point that costs too much goes off by itself, and the others stay") {
  need_root();
  const test::Ended ended = record_hot_program({"--for", "3s"});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.err.contains("shed rlc_poll_rx_queue: tracing took "));
  CHECK(times(ended.err, "--budget none keeps all points on") == 1);
  CHECK_FALSE(ended.err.contains("rlc_poll_rx_queue is hit "));
  CHECK_FALSE(ended.err.contains("shed rlc_send_pdu"));
}

TEST_CASE("points that are left out are neither hot nor silent") {
  need_root();
  const test::Ended ended = record_hot_program({"--points", "rlc_send_pdu", "--for", "1s"});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK_FALSE(ended.err.contains(" is hit "));
  CHECK_FALSE(ended.err.contains("never hit"));
}

}  // namespace
}  // namespace sojourn::live
