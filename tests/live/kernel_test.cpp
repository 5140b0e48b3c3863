// Behaviour that every kernel must show, with either mechanism of attaching. These tests also run
// inside other kernels than this machine's (tests/kernels), where an emulated CPU bears less load.
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "tests/live/point_counts.h"
#include "tests/live/programs.h"
#include "tests/live/truth_pairing.h"

namespace sojourn::live {
namespace {

// "uprobe_multi" or "perf uprobes", if the test knows this kernel.
void check_attached_as_expected(const trace::Reader& reader) {
  const char* const expected = std::getenv("SJ_EXPECTED_ATTACH");
  if (expected != nullptr) CHECK(reader.capture().attach == expected);
}

std::vector<std::string> record_of(pid_t pid, const std::string& engine, const std::string& trace) {
  return {
      "record", "-p", std::to_string(pid), "--engine", engine, "--budget", "none", "--for", "2s",
      "-o",     trace};
}

// An emulated CPU's may not tick steadily, and differs from CPU to CPU.
bool has_steady_counter() {
  const auto doctor = nlohmann::json::parse(sojourn({"doctor", "--json"}).out);
  for (const auto& check : doctor.at("checks"))
    if (check.at("id") == "ring_cost") return check.at("steady_counter");
  FAIL("doctor says nothing of the counter");
  return false;
}

// Every number of every thread, from its first to its last.
struct Counted {
  std::map<std::pair<model::PointId, std::uint64_t>, std::uint64_t> next;  // by point and thread
  std::uint64_t missing = 0;
};

Counted count(trace::Reader& reader) {
  Counted counted;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const model::EventView event = batch[row];
      const auto [known, is_new] =
          counted.next.try_emplace({event.point, event.values[0]}, event.values[1]);
      counted.missing += event.values[1] - known->second;
      known->second = event.values[1] + 1;
    }
    return true;
  }));
  return counted;
}

}  // namespace

TEST_CASE("any kernel: a base station is recorded whole, and its journeys are as they were",
          "[kernel]") {
  need_root();
  const std::string engine = GENERATE("bpf", "ring");
  CAPTURE(engine);
  if (engine == "ring" && !has_steady_counter())
    SKIP("rings stamp with the cycle counter, which does not tick steadily here");
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station({"--ues", "4", "--rate-dl", "300", "--rate-ul", "200", "--slot-us", "4000",
                   "--air-loss", "0.1"});
  sojourn_done(record_of(station.pid(), engine, trace));
  const journeys::Comparison compared = require_equal(trace, station.finish());
  CHECK(compared.expected > 100);
  if (engine == "bpf") check_attached_as_expected(open_trace(trace));
}

TEST_CASE("any kernel: losses are in the ledger, point by point", "[kernel]") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station({"--rate-dl", "3000", "--rate-ul", "2000"});
  std::vector<std::string> record = record_of(station.pid(), "bpf", trace);
  record.insert(record.end(), {"--ring-size", "64K", "--poll", "500ms"});
  sojourn_done(record);
  const truth::Truth truth = station.finish();
  trace::Reader reader = open_trace(trace);
  const PointCounts counts = count_points(reader);
  REQUIRE(counts.lost_in_all > 100);
  check_counts(counts, truth, reader.capture());
  check_gaps(reader);
}

TEST_CASE("any kernel: hits that interrupt hits are numbered and counted like others", "[kernel]") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child subject({SJ_SUBJECT_PREEMPTED});
  REQUIRE(subject.wait_for_output("ready"));
  // Real-time threads and busy ones leave the collector little time.
  std::vector<std::string> record = record_of(subject.pid(), "bpf", trace);
  record.insert(record.end(), {"--collector-priority", "rt:20", "--ring-size", "16M"});
  sojourn_done(record);
  CHECK(subject.running());

  trace::Reader reader = open_trace(trace);
  const Counted counted = count(reader);
  std::uint64_t lost = 0;
  for (const model::LedgerEntry& entry : reader.ledger()) lost += entry.count;
  CHECK(counted.next.size() == 2 * static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN)));
  CHECK(counted.missing <= lost);
  if (lost == 0) CHECK(reader.gaps().empty());
  CHECK(reader.events() > 1000);
}

}  // namespace sojourn::live
