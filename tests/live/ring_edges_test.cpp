// Edge cases of the ring engine: more lossy points than a ring distinguishes, threads without
// rings, commands that end at once.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>

#include "tests/live/environment.h"
#include "tests/live/point_counts.h"
#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

struct Losses {
  std::uint64_t all = 0;
  std::uint64_t apart = 0;  // of points with a row of their own
  std::uint64_t sum = 0;    // of the others
  std::map<model::LossCause, std::uint64_t> by_cause;
};

Losses losses(const trace::Reader& reader) {
  Losses losses;
  for (const model::LedgerEntry& entry : reader.ledger()) {
    losses.all += entry.count;
    (entry.point == model::kNoPoint ? losses.sum : losses.apart) += entry.count;
    losses.by_cause[entry.cause] += entry.count;
  }
  return losses;
}

std::vector<std::string> record_many_sites(const std::string& trace, const std::string& rounds) {
  return {"record", "--engine", "ring", "-o", trace, "--", SJ_SUBJECT_MANY_SITES, rounds};
}

// A thread whose /proc entry cannot be read, for want of descriptors, is not gone.
TEST_CASE("a tracer without descriptors leaves the rings of living threads to them") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  const Station station;
  const std::string pid = std::to_string(station.pid());
  const test::Ended starved =
      test::run({"sh", "-c",
                 "ulimit -n 8; exec '" SJ_SOJOURN "' record --engine ring -p " + pid +
                     " --for 500ms -o '" + trace + "'"});
  INFO(starved.out << starved.err);
  CHECK(starved.exit_code <= 1);
  sojourn_done({"record", "--engine", "ring", "-p", pid, "--for", "500ms", "-o", trace});
  CHECK(open_trace(trace).events() > 1000);
}

TEST_CASE("losses of more points than a ring's table holds are in the ledger all the same") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  const Environment small("SJ_RING_BYTES", "4K");
  const test::Ended ended = sojourn(record_many_sites(trace, "20000"));
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.err.contains("a ring of 4K was filled to 100 %, as it was not read for up to "));
  CHECK(ended.err.contains(" ms: --ring-size "));
  CHECK(ended.err.contains(" would be safe"));
  trace::Reader reader = open_trace(trace);
  Losses lost = losses(reader);
  CHECK(lost.apart > 0);
  CHECK(lost.sum > 0);
  CHECK(lost.by_cause[model::LossCause::kRingFull] == lost.all);
  CHECK(reader.events() + lost.all == 20'000 * 200);
  const std::string report = sojourn_done({"report", trace});
  CHECK(report.contains("points not distinguished"));
  sojourn_done({"check", trace});
}

TEST_CASE("hits of threads that got no ring are in the ledger, of however many points") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  const Environment none("SJ_RING_MEMORY", "1");
  sojourn_done(record_many_sites(trace, "1000"));
  trace::Reader reader = open_trace(trace);
  Losses lost = losses(reader);
  CHECK(reader.events() == 0);
  CHECK(lost.by_cause[model::LossCause::kNoRing] == lost.all);
  CHECK(lost.apart == 176 * 1000);
  CHECK(lost.sum == 24 * 1000);
  sojourn_done({"check", trace});
}

TEST_CASE("a collector that was stopped for longer than its target waits goes on, and says so") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child target({SJ_SUBJECT_LAST_WORDS, "2", "1000000000", "go", directory.path("counts")});
  REQUIRE(target.wait_for_output("ready"));
  test::Child tracer({SJ_SOJOURN, "record", "-p", std::to_string(target.pid()), "--engine", "ring",
                      "--ring-size", "4K", "-o", trace});
  REQUIRE(tracer.wait_for_output("attached"));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  tracer.signal(SIGSTOP);
  std::this_thread::sleep_for(std::chrono::seconds(4));  // it waits for two
  tracer.signal(SIGCONT);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  tracer.signal(SIGINT);
  const test::Ended ended = tracer.wait();
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.err.contains("took this process for dead"));
  sojourn_done({"check", trace});
  trace::Reader reader = open_trace(trace);
  REQUIRE(reader.capture().shed.size() == 1);
  const model::ShedSpan span = reader.capture().shed.front();
  CHECK(span.until_ns > span.from_ns);
  std::uint64_t after = 0;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (const std::uint64_t ts_ns : batch.ts_ns()) after += ts_ns > span.until_ns ? 1 : 0;
    return true;
  }));
  CHECK(after > 1000);
}

TEST_CASE("a flight recorder that is not yet full is taken over with all that it holds") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  std::optional<Environment> flight(std::in_place, "SJ_RINGS", "flight");
  test::Child target({SJ_SUBJECT_LAST_WORDS, "2", "2000", "wait", directory.path("counts")});
  flight.reset();
  REQUIRE(target.wait_for_output("ready"));
  sojourn_done({"record", "-p", std::to_string(target.pid()), "--engine", "ring", "--for", "200ms",
                "-o", trace});
  CHECK(open_trace(trace).events() == 4000);
}

std::size_t ring_directories() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
    count += entry.path().filename().string().starts_with("sojourn-of-") ? 1 : 0;
  return count;
}

TEST_CASE("a command that ends at once is recorded whole by rings, and leaves nothing behind") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  const std::size_t before = ring_directories();
  for (int times = 0; times < 10; ++times) {
    sojourn_done(record_many_sites(trace, "1"));
    trace::Reader reader = open_trace(trace);
    CHECK(reader.events() == 200);
    CHECK(reader.ledger().empty());
  }
  CHECK(ring_directories() <= before);
}

TEST_CASE("only records of unusable points are skipped") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  const bool is_left = GENERATE(false, true);
  test::Ended ended;
  if (is_left) {
    const Environment armed("SJ_RINGS", "armed");
    const Environment named("SJ_RING_DIR", directory.path().c_str());
    REQUIRE(test::Child({SJ_SUBJECT_UNUSABLE, "1000"}).wait().exit_code == 0);
    ended = sojourn({"record", "--post-mortem", directory.path(), "-o", trace});
  } else {
    ended = sojourn({"record", "--engine", "ring", "-o", trace, "--", SJ_SUBJECT_UNUSABLE, "1000"});
  }
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.err.contains("a field has no name"));
  CHECK_FALSE(ended.err.contains("invalid contents"));
  trace::Reader reader = open_trace(trace);
  CHECK(reader.schema().points.size() == 2);
  CHECK(reader.events() == 2000);
  CHECK(reader.ledger().empty());
}

TEST_CASE("rings in a file that is cut while they are read do not end their collector") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  std::optional<Environment> named(std::in_place, "SJ_RING_DIR", directory.path().c_str());
  test::Child target({SJ_SUBJECT_MANY_SITES, "1000000", "500"});
  named.reset();
  REQUIRE(target.wait_for_output("ready"));
  test::Child tracer(
      {SJ_SOJOURN, "record", "-p", std::to_string(target.pid()), "--engine", "ring", "-o", trace});
  REQUIRE(tracer.wait_for_output("attached"));
  target.signal(SIGSTOP);  // its own SIGBUS is its own affair
  for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
    if (entry.path().filename().string().starts_with("sojourn-rings-"))
      std::filesystem::resize_file(entry.path(), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  CHECK(tracer.running());
  tracer.signal(SIGINT);
  const test::Ended ended = tracer.wait();
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.contains("was cut while it was read"));
}

// The rounds in which a point was hit, in order.
std::vector<std::uint64_t> rounds(trace::Reader& reader, const std::string& source) {
  std::vector<std::uint64_t> rounds;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row)
      if (reader.schema().points[batch[row].point].src == source)
        rounds.push_back(batch[row].values.front());
    return true;
  }));
  return rounds;
}

bool count_up_by_one(const std::vector<std::uint64_t>& numbers) {
  return std::ranges::adjacent_find(numbers, [](auto one, auto next) { return next != one + 1; }) ==
         numbers.end();
}

TEST_CASE(
    "events that a flight recorder holds when a collector comes are kept, and later ones join "
    "them") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  std::optional<Environment> flight(std::in_place, "SJ_RINGS", "flight");
  std::optional<Environment> small(std::in_place, "SJ_RING_BYTES", "64K");
  test::Child target({SJ_SUBJECT_MANY_SITES, "1000000", "2000"});
  flight.reset();
  small.reset();
  REQUIRE(target.wait_for_output("ready"));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  sojourn_done({"record", "-p", std::to_string(target.pid()), "--engine", "ring", "--ring-size",
                "64K", "--for", "500ms", "-o", trace});
  trace::Reader reader = open_trace(trace);
  CHECK(reader.ledger().empty());
  CHECK(reader.gaps().empty());
  const auto seen = rounds(reader, "many.s150");
  REQUIRE(seen.size() > 20);
  CHECK(seen.front() > 0);  // the oldest were written over
  CHECK(count_up_by_one(seen));
}

TEST_CASE("a busy flight recorder is taken over from the first record that is not overwritten") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  std::optional<Environment> flight(std::in_place, "SJ_RINGS", "flight");
  std::optional<Environment> large(std::in_place, "SJ_RING_BYTES", "1M");
  Station station({"--rate-dl", "20000", "--rate-ul", "20000"});
  flight.reset();
  large.reset();
  std::this_thread::sleep_for(std::chrono::seconds(4));  // its busiest ring holds a second
  sojourn_done({"record", "-p", std::to_string(station.pid()), "--engine", "ring", "--for", "500ms",
                "-o", trace});
  const truth::Truth truth = station.finish();
  trace::Reader reader = open_trace(trace);
  const PointCounts counts = count_points(reader);
  CHECK(counts.lost_in_all == 0);
  check_counts(counts, truth, reader.capture());
  // Some of its events are in the trace.
  const model::Capture& capture = reader.capture();
  CHECK(capture.close_ns - capture.open_ns > 600'000'000);
}

TEST_CASE("a target in a PID namespace of its own is recorded under the numbers that we see") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  const bool has_name = GENERATE(false, true);
  std::optional<Environment> named;
  if (has_name) named.emplace("SJ_RING_DIR", directory.path().c_str());
  test::Child outside(
      {"unshare", "--pid", "--fork", "--kill-child", SJ_SUBJECT_MANY_SITES, "1000000", "500"});
  named.reset();
  REQUIRE(outside.wait_for_output("ready"));
  const std::string pid = std::to_string(outside.pid());
  const int inside = std::stoi(test::contents("/proc/" + pid + "/task/" + pid + "/children"));
  sojourn_done(
      {"record", "-p", std::to_string(inside), "--engine", "ring", "--for", "300ms", "-o", trace});
  trace::Reader reader = open_trace(trace);
  CHECK(reader.ledger().empty());
  REQUIRE(reader.streams().size() == 1);
  CHECK(reader.streams().front().tid == inside);
  CHECK(count_up_by_one(rounds(reader, "many.s100")));
  CHECK(reader.events() > 1000);
}

TEST_CASE("an event of one 32-bit value, as a schema's are, takes sixteen bytes of its ring") {
  std::optional<Environment> armed(std::in_place, "SJ_RINGS", "armed");
  test::Child target({SJ_SUBJECT_MANY_SITES, "1", "10000000"});
  armed.reset();
  REQUIRE(target.wait_for_output("ready"));
  std::uint64_t waiting = 0;
  for (int tries = 0; tries < 500 && waiting < 200 * 16; ++tries) {
    const auto status = nlohmann::json::parse(
        sojourn_done({"ctl", "-p", std::to_string(target.pid()), "status", "--json"}));
    for (const auto& ring : status.at("rings")) waiting = ring.at("waiting_bytes");
  }
  CHECK(waiting == 200 * 16);
}

}  // namespace
}  // namespace sojourn::live
