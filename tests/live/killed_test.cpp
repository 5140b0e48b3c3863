// SIGKILL at random moments, of the tracer and of the target: the other goes on unharmed, and the
// file on disk can be read. Rare phases, such as a dump, are in killed_phases_test.cpp. The seed is
// the test run's: --rng-seed repeats one.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/live/programs.h"
#include "tests/live/remains.h"
#include "tests/support/arena_view.h"

namespace sojourn::live {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr int kMoments = 26;  // for each engine, of each of the two

// Random moments of a span that is as long as a capture is on this machine now, from before it has
// read its arguments until after its file is complete.
class Moments {
 public:
  explicit Moments(const std::vector<std::string>& capture) : random_(Catch::getSeed()) {
    const auto begin = std::chrono::steady_clock::now();
    sojourn_done(capture);
    const auto took = std::chrono::steady_clock::now() - begin;
    span_us_ = static_cast<std::uint64_t>(std::chrono::duration_cast<microseconds>(took).count() *
                                          11 / 10);
    WARN("seed " << Catch::getSeed() << ", within " << span_us_ << " us");
  }
  void wait() { std::this_thread::sleep_for(microseconds(random_() % span_us_)); }

 private:
  std::mt19937 random_;
  std::uint64_t span_us_ = 0;
};

// Items that have gone into the target's queues, as its registry counts them.
std::uint64_t handled(pid_t pid) {
  std::uint64_t in = 0;
  for (const auto& queue : test::ArenaView(pid).queues().queues) in += queue.counts.in;
  return in;
}

TEST_CASE("SIGKILL of the tracer at any moment leaves the target well and the file readable") {
  const std::string engine = GENERATE("bpf", "ring");
  if (engine == "bpf") need_root();
  CAPTURE(engine);
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station({"--rate-dl", "4000", "--rate-ul", "2000"});
  const std::vector<std::string> record = {"record", "-p",       std::to_string(station.pid()),
                                           "-o",     trace,      "--engine",
                                           engine,   "--budget", "none",
                                           "--for",  "150ms"};
  Moments moments(record);
  const tracee::Points points = points_of(station.pid());
  const std::vector<unsigned char> untouched = site_bytes(station.pid(), points);
  int killed_in_time = 0;
  int with_events = 0;
  for (int moment = 0; moment < kMoments; ++moment) {
    CAPTURE(moment);
    std::filesystem::remove(trace);
    std::filesystem::remove(trace + ".partial");
    std::vector<std::string> argv = record;
    argv.insert(argv.begin(), SJ_SOJOURN);
    test::Child tracer(argv);
    moments.wait();
    tracer.signal(SIGKILL);
    if (tracer.wait().exit_code == 0) {
      CHECK(open_trace(trace).capture().close_ns > 0);
    } else {
      ++killed_in_time;
      with_events += readable_events(trace + ".partial") != 0 ? 1 : 0;
    }
    // The process that holds the probes takes them off.
    CHECK(comes([&] { return site_bytes(station.pid(), points) == untouched; }));
    REQUIRE(station.running());
    const std::uint64_t before = handled(station.pid());
    CHECK(comes([&] { return handled(station.pid()) > before + 20; }));
  }
  CHECK(killed_in_time > kMoments / 5);
  WARN(killed_in_time << " of " << kMoments << " died in time, " << with_events
                      << " of them with events on disk");

  const std::string last = directory.path("last.sjt");
  sojourn_done({"record", "-p", std::to_string(station.pid()), "--engine", engine, "--budget",
                "none", "--for", "300ms", "-o", last});
  sojourn_done({"check", last});
  CHECK(open_trace(last).events() > 1000);
  CHECK(station.finish().packets.size() > 1000);
}

struct Count {
  std::uint64_t begun = 0;
  std::uint64_t done = 0;
  std::uint64_t tid = 0;
};

TEST_CASE("SIGKILL of the target at any moment ends the capture in order, to the last event") {
  const std::string engine = GENERATE("bpf", "ring");
  if (engine == "bpf") need_root();
  CAPTURE(engine);
  constexpr unsigned kWorkers = 2;
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  const auto start_subject = [&] {
    auto subject = std::make_unique<test::Child>(
        std::vector<std::string>{SJ_SUBJECT_LAST_WORDS, std::to_string(kWorkers), "1000000000",
                                 "go", directory.path("counts")});
    REQUIRE(subject->wait_for_output("ready"));
    return subject;
  };
  const auto record = [&](pid_t pid) {
    return std::vector<std::string>{"record",   "-p",   std::to_string(pid), "-o",  trace,
                                    "--engine", engine, "--budget",          "none"};
  };
  const auto measured = start_subject();
  std::vector<std::string> whole = record(measured->pid());
  whole.insert(whole.end(), {"--for", "150ms"});
  Moments moments(whole);
  measured->signal(SIGKILL);
  measured->wait();
  int recorded = 0;
  for (int moment = 0; moment < kMoments; ++moment) {
    CAPTURE(moment);
    std::filesystem::remove(trace);
    const auto subject = start_subject();
    std::vector<std::string> argv = record(subject->pid());
    argv.insert(argv.begin(), SJ_SOJOURN);
    test::Child tracer(argv);
    moments.wait();
    subject->signal(SIGKILL);
    subject->wait();
    const test::Ended ended = tracer.wait();
    INFO(ended.err);
    CHECK(!std::filesystem::exists(trace + ".partial"));
    if (ended.exit_code != 0) {  // it came too late
      CHECK(ended.exit_code == 1);
      CHECK(std::ranges::count(ended.err, '\n') == 1);
      CHECK(!std::filesystem::exists(trace));
      continue;
    }
    ++recorded;
    sojourn_done({"check", trace});
    trace::Reader reader = open_trace(trace);
    CHECK(reader.capture().ended_by == "target exit");
    std::vector<std::uint64_t> behind(kWorkers);
    REQUIRE(reader.merge([&](const model::EventBatch& batch) {
      for (std::size_t row = 0; row < batch.size(); ++row)
        behind.at(batch[row].values[1]) = batch[row].values[2] + 1;
      return true;
    }));
    if (reader.events() == 0 || !reader.ledger().empty()) continue;
    const std::string bytes = test::contents(directory.path("counts"));
    for (unsigned worker = 0; worker < kWorkers; ++worker) {
      Count count;
      std::memcpy(&count, bytes.data() + worker * sizeof(Count), sizeof(Count));
      CAPTURE(worker);
      if (behind[worker] == 0) continue;  // it slept all the while
      CHECK(behind[worker] >= count.done);
      CHECK(behind[worker] <= count.begun);
    }
  }
  CHECK(recorded > kMoments / 5);
  WARN(recorded << " of " << kMoments << " were attached to in time");
}

}  // namespace
}  // namespace sojourn::live
