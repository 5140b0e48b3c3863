// The evidence of interrupts and of page faults in explain, for a worker that has nothing else.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

using nlohmann::json;

// The parts of each packet's time in the worker's hands.
std::vector<std::vector<json>> work_of(const std::vector<std::string>& options,
                                       const std::string& context) {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  std::vector<std::string> subject = {SJ_SUBJECT_EVIDENCE};
  subject.insert(subject.end(), options.begin(), options.end());
  test::Child target(subject);
  REQUIRE(target.wait_for_ready_line() == "ready\n");
  const test::Ended recorded = sojourn({"record", "-p", std::to_string(target.pid()), "--for", "3s",
                                        "-o", trace, "--context", context});
  INFO(recorded.err);
  REQUIRE(recorded.exit_code == 0);
  if (recorded.err.contains("no context of")) SKIP("not on this kernel: " << recorded.err);
  const json said = json::parse(
      sojourn_done({"explain", trace, "--json", "--worst", "1000", "--deadline", "1us"}));
  std::vector<std::vector<json>> packets;
  for (const json& packet : said.at("worst")) {
    auto& parts = packets.emplace_back();
    std::uint64_t sum_ns = 0;
    for (const json& part : packet.at("parts")) {
      sum_ns += part.at("ns").get<std::uint64_t>();
      if (part.at("at") == "work" && part.at("thread") == "worker") parts.push_back(part);
    }
    CHECK(sum_ns == packet.at("latency_ns"));
  }
  REQUIRE_FALSE(packets.empty());
  return packets;
}

TEST_CASE("interrupts in the middle of work are distinguished from it, by name") {
  std::size_t interrupted = 0;
  const auto packets = work_of({"interrupts"}, "sched,irq");
  for (const auto& parts : packets)
    if (std::ranges::any_of(parts, [](const json& part) {
          return part.at("cause") == "interrupted" && part.at("interrupt") == "local timer" &&
                 part.at("ns") > 0;
        }))
      ++interrupted;
  INFO(json(packets.front()).dump(1));
  // A short one may fall between two interrupts.
  CHECK(2 * interrupted >= packets.size());
}

TEST_CASE("page faults are counted to the work that made them") {
  constexpr std::uint64_t kPages = 2000;
  std::size_t all_there = 0;
  const auto packets = work_of({"faults", std::to_string(kPages)}, "sched,faults");
  for (const auto& parts : packets) {
    std::uint64_t faults = 0;
    for (const json& part : parts)
      if (part.contains("page_faults")) faults += part.at("page_faults").get<std::uint64_t>();
    CAPTURE(faults);
    CHECK(faults > 0);
    // The next worker's faults are not counted; a few of page tables may be.
    CHECK(faults < 2 * kPages);
    all_there += faults >= kPages ? 1 : 0;
  }
  CHECK(2 * all_there >= packets.size());
}

}  // namespace
}  // namespace sojourn::live
