// The ring engine where things are small, short or odd: more lossy points than a ring tells apart,
// threads without rings, commands that end at once.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include <catch2/catch_test_macros.hpp>

#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

// For a child that is started while this exists.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

struct Losses {
  std::uint64_t all = 0;
  std::uint64_t apart = 0;  // of points that are told
  std::uint64_t sum = 0;    // of those that are not
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

TEST_CASE("losses of more points than a ring tells apart are in the ledger all the same") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  const Environment small("SJ_RING_BYTES", "4K");
  sojourn_done(record_many_sites(trace, "20000"));
  trace::Reader reader = open_trace(trace);
  Losses lost = losses(reader);
  CHECK(lost.apart > 0);
  CHECK(lost.sum > 0);
  CHECK(lost.by_cause[model::LossCause::kRingFull] == lost.all);
  CHECK(reader.events() + lost.all == 20'000 * 200);
  const std::string report = sojourn_done({"report", trace});
  CHECK(report.contains("points not told apart"));
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

}  // namespace
}  // namespace sojourn::live
