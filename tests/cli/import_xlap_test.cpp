// `sojourn import --from xlap`: a directory of tables is a trace for every command.
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;

// Packets that take 50 us at the sender, 300 us on the way and 20 us at the receiver.
void write_measured(const test::TemporaryDirectory& directory) {
  test::write_contents(directory.path("xlap.yml"), R"(data_files:
    sender: sender.csv
    receiver: receiver.csv
cycle_reference: {sender: Submit, receiver: Receive}
time_reference: {sender: Submit, receiver: Receive}
stamps:
    Submit: {Source: sender, Type: time}
    Transmit: {Source: sender, Type: cycle}
    Receive: {Source: receiver, Type: time}
    Deliver: {Source: receiver, Type: cycle}
durations:
    Send: {Start: Submit, Stop: Transmit, Source: sender}
)");
  std::string sender = "SeqNo,Kind,Submit_T,Submit_C,Transmit_C\n";
  std::string receiver = "SeqNo,Kind,Receive_T,Receive_C,Deliver_C\n";
  constexpr std::uint64_t kBeginUs = 1'700'000'000'000'000;
  for (std::uint64_t seq = 1; seq <= 500; ++seq) {
    const std::uint64_t now = seq * 5000;
    sender += fmt::format("{},0,{},{},{}\n", seq, kBeginUs + now, now * 2000, (now + 50) * 2000);
    receiver += fmt::format("{},0,{},{},{}\n", seq, kBeginUs + now + 350, (now + 350) * 3000,
                            (now + 370) * 3000);
  }
  test::write_contents(directory.path("sender.csv"), sender);
  test::write_contents(directory.path("receiver.csv"), receiver);
}

TEST_CASE("X-Lap's tables become a trace with journeys, stays and durations") {
  const test::TemporaryDirectory directory;
  write_measured(directory);
  const test::TemporaryDirectory elsewhere;
  const std::string trace = elsewhere.path("x.sjt");
  const test::Ended imported =
      sojourn({"import", "--from", "xlap", directory.path(""), "-o", trace});
  INFO(imported.err);
  REQUIRE(imported.exit_code == 0);
  CHECK(imported.err.contains("sender.csv   sender: 1,500 events of 500 rows"));
  CHECK(
      imported.err.contains("1,000 times by the cycle counter, read by 250 clock stamps, within "));
  CHECK(imported.err.contains("checked against 250 clock stamps: at most "));
  const json report = json::parse(output_of({"report", trace, "--json"}));
  CHECK(report["journeys"]["D"]["complete"] == 500);
  const double mean = report["journeys"]["D"]["latency_us"]["mean"];
  CHECK(mean > 369);
  CHECK(mean < 371);
  REQUIRE(report["spans"].size() == 1);
  CHECK(report["spans"][0]["name"] == "Send");
  CHECK(output_of({"report", trace}).contains("channel"));
}

TEST_CASE("an import of X-Lap is reported as JSON, and errors in one line") {
  const test::TemporaryDirectory directory;
  write_measured(directory);
  const test::TemporaryDirectory elsewhere;
  const std::string trace = elsewhere.path("x.sjt");
  const json told = json::parse(
      output_of({"import", "--from", "xlap", directory.path(""), "-o", trace, "--json"}));
  REQUIRE(told["files"].size() == 2);
  CHECK(told["files"][0]["source"] == "sender");
  CHECK(told["files"][0]["bound_ns"] >= 1000);
  CHECK(told["files"][1]["cycle_stamps"] == 1000);
  CHECK(told["files"][1]["beyond_bound"] == 0);

  CHECK(sojourn({"import", "--from", "xlap", directory.path(""), elsewhere.path("")}).exit_code ==
        2);
  require_error(sojourn({"import", "--from", "xlap", directory.path("sender.csv")}),
                "the directory of an xlap.yml is wanted");
  test::write_contents(directory.path("xlap.yml"), "data_files: {a: b.csv}\nstamps: [1]\n");
  require_error(sojourn({"import", "--from", "xlap", directory.path(""), "-o", trace}),
                "xlap.yml:2: stamps is a list of names with values");
}

}  // namespace
}  // namespace sojourn::cli_tests
