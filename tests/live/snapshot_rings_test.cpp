// Rings of a process that records by itself: what `record --snapshot` and `record --flight rings`
// make of them while it goes on, and when it ends.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <unistd.h>

#include "tests/live/environment.h"
#include "tests/live/point_counts.h"
#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// tests/live/subjects/last_words.cpp, as a flight recorder: its threads number their hits, and say
// in a file how many are behind them.
class Recorder {
 public:
  Recorder(unsigned workers, const char* ring_bytes, const std::string& hits,
           const std::string& ending)
      : workers_(workers) {
    const Environment flight("SJ_RINGS", "flight");
    const Environment size("SJ_RING_BYTES", ring_bytes);
    child_.emplace(std::vector<std::string>{SJ_SUBJECT_LAST_WORDS, std::to_string(workers), hits,
                                            ending, counts_path()});
  }

  test::Child& child() { return *child_; }
  std::string pid() const { return std::to_string(child_->pid()); }
  std::string path(const std::string& name) const { return directory_.path(name); }

  // By worker, how many hits were begun and done by now.
  struct Count {
    std::uint64_t begun = 0;
    std::uint64_t done = 0;
    std::uint64_t tid = 0;
  };
  std::vector<Count> counts() const {
    std::vector<Count> counts(workers_);
    if (!std::filesystem::exists(counts_path())) return counts;  // it has just begun
    const std::string bytes = test::contents(counts_path());
    if (bytes.size() >= workers_ * sizeof(Count))
      std::memcpy(counts.data(), bytes.data(), workers_ * sizeof(Count));
    return counts;
  }
  void wait_until_all_have(std::uint64_t done) const {
    for (int tries = 0; tries < 2000; ++tries) {
      if (std::ranges::all_of(counts(), [&](const Count& one) { return one.done >= done; })) return;
      std::this_thread::sleep_for(milliseconds(10));
    }
    FAIL("the subject does not come on");
  }

 private:
  std::string counts_path() const { return directory_.path("counts"); }

  unsigned workers_;
  test::TemporaryDirectory directory_;
  std::optional<test::Child> child_;
};

// The numbers of each worker's hits, which have to follow one another.
std::map<std::uint64_t, std::vector<std::uint64_t>> numbers_of(trace::Reader& reader) {
  std::map<std::uint64_t, std::vector<std::uint64_t>> numbers;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      auto& own = numbers[batch[row].values[1]];
      if (!own.empty() && batch[row].values[2] != own.back() + 1)
        FAIL("events do not follow one another");
      own.push_back(batch[row].values[2]);
    }
    return true;
  }));
  return numbers;
}

TEST_CASE("a snapshot holds each thread's hits up to then, and the process goes on recording") {
  constexpr unsigned kWorkers = 3;
  Recorder recorder(kWorkers, "256K", "100000000", "go");
  recorder.wait_until_all_have(20'000);
  std::vector<std::uint64_t> before(kWorkers, 0);
  for (int times = 0; times < 3; ++times) {
    const auto first = recorder.counts();
    const std::string trace = recorder.path("now.sjt");
    sojourn_done({"record", "-p", recorder.pid(), "--snapshot", "-o", trace});
    const auto last = recorder.counts();
    trace::Reader reader = open_trace(trace);
    CHECK(reader.ledger().empty());
    CHECK(reader.capture().ended_by == "snapshot");
    CHECK(reader.capture().close_ns > reader.capture().open_ns);
    const auto numbers = numbers_of(reader);
    REQUIRE(numbers.size() == kWorkers);
    for (const auto& [worker, own] : numbers) {
      CAPTURE(worker, own.size());
      CHECK(own.size() > 1000);
      CHECK(own.back() + 1 >= first[worker].done);
      CHECK(own.back() + 1 <= last[worker].begun);
      CHECK(own.back() > before[worker]);
      before[worker] = own.back();
    }
    sojourn_done({"check", trace});
    sojourn_done({"report", trace});
  }
  CHECK(recorder.child().running());
}

TEST_CASE("rings that are written over while they are copied give no torn events") {
  constexpr unsigned kWorkers = 2;
  // The workers hit as fast as they can until they are killed: a ring is full anew after some 300
  // us.
  Recorder recorder(kWorkers, "1M", "1000000000000", "wait");
  recorder.wait_until_all_have(100'000);
  std::size_t events = 0;
  for (int times = 0; times < 10; ++times) {
    const test::Ended ended =
        sojourn({"record", "-p", recorder.pid(), "--snapshot", "-o", recorder.path("now.sjt")});
    INFO(ended.err);
    if (ended.exit_code != 0) {  // no processor while they were written anew, again and again
      CHECK(ended.err.contains("hold no events"));
      continue;
    }
    trace::Reader reader = open_trace(recorder.path("now.sjt"));
    for (const auto& [worker, own] : numbers_of(reader)) events += own.size();
    CHECK(reader.ledger().empty());
  }
  CHECK(events > 10'000);
}

TEST_CASE("a base station's snapshot has the events between the marks, and nothing else") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("now.sjt");
  std::optional<Environment> flight(std::in_place, "SJ_RINGS", "flight");
  std::optional<Environment> large(std::in_place, "SJ_RING_BYTES", "1M");
  Station station;
  flight.reset();
  large.reset();
  std::this_thread::sleep_for(seconds(2));
  sojourn_done({"record", "-p", std::to_string(station.pid()), "--snapshot", "-o", trace});
  std::this_thread::sleep_for(milliseconds(100));
  const truth::Truth truth = station.finish();
  trace::Reader reader = open_trace(trace);
  const PointCounts counts = count_points(reader);
  CHECK(counts.lost_in_all == 0);
  check_counts(counts, truth, reader.capture());
  CHECK(reader.events() > 10'000);
  CHECK(reader.target().name == "sj-basestation");
}

TEST_CASE("with --flight rings dumps come when they are asked for, and the last one when it dies") {
  constexpr unsigned kWorkers = 2;
  Recorder recorder(kWorkers, "64K", "100000000", "go");
  recorder.wait_until_all_have(5'000);
  test::Child waiting({SJ_SOJOURN, "record", "-p", recorder.pid(), "--flight", "rings", "-o",
                       recorder.path("run.sjt")});
  REQUIRE(waiting.wait_for_output("waiting"));
  CHECK(sojourn_done({"ctl", "-p", recorder.pid(), "dump"}).contains("run-1.sjt"));
  waiting.signal(SIGUSR1);
  REQUIRE(waiting.wait_for_output("run-2.sjt"));
  const test::Ended other = sojourn({"record", "-p", recorder.pid(), "--engine", "ring", "--for",
                                     "1s", "-o", recorder.path("other.sjt")});
  CHECK(other.exit_code == 1);
  CHECK(other.err.contains("another collector is attached"));

  recorder.child().signal(SIGKILL);
  recorder.child().wait();
  const test::Ended ended = waiting.wait();
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.contains("ended by target exit"));
  const auto counts = recorder.counts();
  std::uint64_t before = 0;
  for (const char* name : {"run-1.sjt", "run-2.sjt", "run.sjt"}) {
    CAPTURE(name);
    trace::Reader reader = open_trace(recorder.path(name));
    const auto numbers = numbers_of(reader);
    REQUIRE(numbers.size() == kWorkers);
    CHECK(numbers.at(0).back() > before);
    before = numbers.at(0).back();
  }
  trace::Reader last = open_trace(recorder.path("run.sjt"));
  for (const auto& [worker, own] : numbers_of(last)) {
    CAPTURE(worker);
    CHECK(own.back() + 1 >= counts[worker].done);
    CHECK(own.back() + 1 <= counts[worker].begun);
  }
}

TEST_CASE("a recorder on the target's own rings that is killed leaves the target as it was") {
  Recorder recorder(1, "64K", "100000000", "go");
  recorder.wait_until_all_have(5'000);
  for (const int signal : {SIGKILL, SIGTERM}) {
    test::Child waiting({SJ_SOJOURN, "record", "-p", recorder.pid(), "--flight", "rings", "-o",
                         recorder.path("run.sjt")});
    REQUIRE(waiting.wait_for_output("waiting"));
    waiting.signal(signal);
    CHECK(waiting.wait().exit_code == (signal == SIGKILL ? -1 : 0));
  }
  CHECK(recorder.child().running());
  const auto before = recorder.counts();
  sojourn_done({"record", "-p", recorder.pid(), "--snapshot", "-o", recorder.path("now.sjt")});
  trace::Reader reader = open_trace(recorder.path("now.sjt"));
  CHECK(numbers_of(reader).at(0).back() + 1 >= before[0].done);
}

TEST_CASE("a snapshot of a stopped process shows its events, and the hits under way") {
  Recorder recorder(2, "64K", "100000000", "go");
  recorder.wait_until_all_have(5'000);
  recorder.child().signal(SIGSTOP);
  std::this_thread::sleep_for(milliseconds(50));
  const auto counts = recorder.counts();
  sojourn_done({"record", "-p", recorder.pid(), "--snapshot", "-o", recorder.path("now.sjt")});
  trace::Reader reader = open_trace(recorder.path("now.sjt"));
  for (const auto& [worker, own] : numbers_of(reader)) {
    CHECK(own.back() + 1 >= counts[worker].done);
    CHECK(own.back() + 1 <= counts[worker].begun);
  }
  recorder.child().signal(SIGCONT);
}

TEST_CASE("a snapshot writes only the selected events, and counts the others") {
  Recorder recorder(2, "256K", "100000000", "go");
  recorder.wait_until_all_have(5'000);
  sojourn_done({"record", "-p", recorder.pid(), "--snapshot", "--where", "worker == 1", "-o",
                recorder.path("now.sjt")});
  trace::Reader reader = open_trace(recorder.path("now.sjt"));
  const auto numbers = numbers_of(reader);
  REQUIRE(numbers.size() == 1);
  CHECK(numbers.at(1).size() > 1000);
  CHECK(reader.gaps().empty());
  REQUIRE(reader.ledger().size() == 1);
  CHECK(reader.ledger().front().cause == model::LossCause::kFiltered);
  CHECK(reader.ledger().front().count > 1000);
  sojourn_done({"check", recorder.path("now.sjt")});
}

// By process and worker.
std::map<std::pair<std::int32_t, std::uint64_t>, std::vector<std::uint64_t>> numbers_by_process(
    trace::Reader& reader) {
  std::map<std::pair<std::int32_t, std::uint64_t>, std::vector<std::uint64_t>> numbers;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const std::int32_t pid = reader.streams()[batch.stream()[row]].pid;
      auto& own = numbers[{pid, batch[row].values[1]}];
      if (!own.empty() && batch[row].values[2] != own.back() + 1)
        FAIL("events do not follow one another");
      own.push_back(batch[row].values[2]);
    }
    return true;
  }));
  return numbers;
}

TEST_CASE("the rings of several processes make one trace, up to one instant") {
  Recorder first(2, "1M", "100000000", "go");
  Recorder second(1, "1M", "100000000", "go");
  first.wait_until_all_have(5'000);
  second.wait_until_all_have(5'000);
  test::Child waiting({SJ_SOJOURN, "record", "-p", first.pid() + "," + second.pid(), "--flight",
                       "rings", "-o", first.path("run.sjt")});
  REQUIRE(waiting.wait_for_output("waiting"));
  const auto before = second.counts();
  CHECK(sojourn_done({"ctl", "-p", second.pid(), "dump"}).contains("run-1.sjt"));
  first.child().signal(SIGKILL);
  first.child().wait();
  const auto last_words = first.counts();
  usleep(100'000);
  CHECK(sojourn_done({"ctl", "-p", second.pid(), "stop"}).contains("stopping"));
  CHECK(waiting.wait().exit_code == 0);

  for (const char* name : {"run-1.sjt", "run.sjt"}) {
    CAPTURE(name);
    trace::Reader reader = open_trace(first.path(name));
    CHECK(reader.targets().size() == 2);
    const auto numbers = numbers_by_process(reader);
    REQUIRE(numbers.size() == 3);
    CHECK(reader.schema().points.size() == 1);
    for (const auto& [where, own] : numbers) {
      CAPTURE(where.first, where.second);
      CHECK(own.size() > 500);
    }
    CHECK(numbers.at({std::stoi(second.pid()), 0}).back() + 1 >= before[0].done);
    sojourn_done({"check", first.path(name)});
  }
  trace::Reader whole = open_trace(first.path("run.sjt"));
  for (const auto& [where, own] : numbers_by_process(whole)) {
    if (where.first != std::stoi(first.pid())) continue;
    CHECK(own.back() + 1 >= last_words[where.second].done);
    CHECK(own.back() + 1 <= last_words[where.second].begun);
  }
}

TEST_CASE("a process and its child, which share their rings, cannot be held together") {
  const test::TemporaryDirectory directory;
  std::optional<Environment> flight(std::in_place, "SJ_RINGS", "flight");
  test::Child parent({SJ_SUBJECT_FAMILY});
  flight.reset();
  REQUIRE(parent.wait_for_output("ready"));
  const std::string pid = std::to_string(parent.pid());
  parent.signal(SIGUSR1);
  std::string child;
  for (int tries = 0; tries < 1000 && child.empty(); ++tries) {
    std::this_thread::sleep_for(milliseconds(10));
    child = test::contents("/proc/" + pid + "/task/" + pid + "/children");
  }
  while (child.ends_with(' ')) child.pop_back();
  REQUIRE(!child.empty());
  std::this_thread::sleep_for(milliseconds(100));
  const test::Ended both =
      sojourn({"record", "-p", pid + "," + child, "--snapshot", "-o", directory.path("both.sjt")});
  INFO(both.err);
  CHECK(both.exit_code == 1);
  CHECK(both.err.contains("and its parent, which is given as well"));
  for (const std::string& one : {pid, child}) {
    CAPTURE(one);
    sojourn_done({"record", "-p", one, "--snapshot", "-o", directory.path("one.sjt")});
    trace::Reader reader = open_trace(directory.path("one.sjt"));
    CHECK(reader.events() > 0);
    REQUIRE(reader.merge([&](const model::EventBatch& batch) {
      for (std::size_t row = 0; row < batch.size(); ++row)
        if (batch[row].values[0] != std::stoull(one)) FAIL("another process's event");
      return true;
    }));
  }
}

TEST_CASE(
    "processes that do not record by themselves, and wrong requests, get an error of one line") {
  const test::TemporaryDirectory directory;
  test::Child plain({SJ_SUBJECT_LAST_WORDS, "1", "100000000", "go", directory.path("counts")});
  REQUIRE(plain.wait_for_output("ready"));
  const std::string pid = std::to_string(plain.pid());
  const auto refuse = [&](std::vector<std::string> options, int exit_code, const std::string& why) {
    options.insert(options.begin(), {"record", "-o", directory.path("none.sjt")});
    const test::Ended ended = sojourn(options);
    INFO(ended.err);
    CHECK(ended.exit_code == exit_code);
    CHECK(ended.err.contains(why));
    CHECK(!std::filesystem::exists(directory.path("none.sjt")));
  };
  refuse({"-p", pid, "--snapshot"}, 1, "does not record by itself");
  refuse({"-p", pid, "--flight", "rings"}, 1, "does not record by itself");
  refuse({"--snapshot"}, 2, "give -p");
  refuse({"-p", pid, "--snapshot", "--where", "number > 1 && time < 1s"}, 2, "time counts from");
  const Recorder recorder(1, "64K", "100000000", "go");
  recorder.wait_until_all_have(1);
  const test::Ended nowhere =
      sojourn({"record", "-p", recorder.pid(), "--flight", "rings", "-o", "/no/such/place.sjt"});
  INFO(nowhere.err);
  CHECK(nowhere.exit_code == 1);
  CHECK(nowhere.err.contains("/no/such/place.sjt"));
  refuse({"-p", pid, "--cgroup", "/", "--flight", "rings"}, 2, "--cgroup is for a capture");
  refuse({"-p", recorder.pid(), "-p", pid, "--flight", "rings"}, 1, pid);
  refuse({"-p", pid, "--snapshot", "--for", "1s"}, 2, "--for is for a capture");
  refuse({"-p", pid, "--flight", "rings", "--trigger", "loss"}, 2, "--trigger is for a capture");
  refuse({"-p", pid, "--flight", "ring"}, 2, "nor \"rings\"");
  refuse({"-p", pid, "--snapshot", "--", "true"}, 2, "");
}

}  // namespace
}  // namespace sojourn::live
