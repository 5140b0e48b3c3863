// Losses, forced by buffers that are too small and looked into too seldom.
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/live/point_counts.h"
#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

TEST_CASE("every hit is in the trace or in the ledger, point by point") {
  need_root();
  const std::string attach = GENERATE("multi", "perf");
  CAPTURE(attach);
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station({"--air-loss", "0.1"});
  sojourn_done({"record", "-p", std::to_string(station.pid()), "--for", "2s", "-o", trace,
                "--attach", attach, "--budget", "none", "--ring-size", "64K", "--poll", "100ms"});
  const truth::Truth truth = station.finish();

  trace::Reader reader = open_trace(trace);
  const PointCounts counts = count_points(reader);
  REQUIRE(counts.lost_in_all > 1000);
  check_counts(counts, truth, reader.capture());
}

TEST_CASE("each stream's missing sequence numbers are the ledger's losses of that stream") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station;
  sojourn_done({"record", "-p", std::to_string(station.pid()), "--for", "2s", "-o", trace,
                "--budget", "none", "--ring-size", "64K", "--poll", "100ms"});
  trace::Reader reader = open_trace(trace);
  REQUIRE(reader.merge([](const model::EventBatch&) { return true; }));
  REQUIRE(!reader.ledger().empty());
  check_gaps(reader);
}

TEST_CASE("losses are reported while they happen, with their cause, and not repeatedly") {
  need_root();
  const std::string engine = GENERATE("ring", "bpf");
  CAPTURE(engine);
  const test::TemporaryDirectory directory;
  Station station;
  test::Child tracer({SJ_SOJOURN, "record", "-p", std::to_string(station.pid()), "-o",
                      directory.path("run.sjt"), "--engine", engine, "--budget", "none",
                      "--ring-size", engine == "ring" ? "4K" : "64K", "--poll", "100ms"});
  REQUIRE(tracer.wait_for_output("losing events, "));
  for (int looks = 0; looks < 10; ++looks) usleep(100'000);
  REQUIRE(tracer.running());
  tracer.signal(SIGINT);
  const test::Ended ended = tracer.wait();
  CAPTURE(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.contains("the rings were full before they were looked into"));
  CHECK(ended.err.find("losing events") == ended.err.rfind("losing events"));
}

// The tracer's threads but its first, stopped by themselves, as a slow disk stops the one that
// writes.
class StoppedWriter {
 public:
  explicit StoppedWriter(pid_t tracer) {
    for (const auto& task :
         std::filesystem::directory_iterator("/proc/" + std::to_string(tracer) + "/task")) {
      const pid_t tid = std::stoi(task.path().filename());
      if (tid == tracer) continue;
      REQUIRE(ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) == 0);
      REQUIRE(ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr) == 0);
      REQUIRE(waitpid(tid, nullptr, __WALL) == tid);
      threads_.push_back(tid);
    }
  }
  ~StoppedWriter() {
    for (const pid_t tid : threads_) ptrace(PTRACE_DETACH, tid, nullptr, nullptr);
  }
  StoppedWriter(const StoppedWriter&) = delete;
  StoppedWriter& operator=(const StoppedWriter&) = delete;

  std::size_t threads() const { return threads_.size(); }

 private:
  std::vector<pid_t> threads_;
};

TEST_CASE(
    "with --loss oldest a writer that is behind costs the oldest events, and all are counted") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station({"--rate-dl", "40000", "--rate-ul", "20000"});
  test::Child tracer({SJ_SOJOURN, "record", "-p", std::to_string(station.pid()), "-o", trace,
                      "--engine", "ring", "--loss", "oldest"});
  REQUIRE(tracer.wait_for_output("attached"));
  {
    const StoppedWriter stopped(tracer.pid());
    REQUIRE(stopped.threads() >= 1);
    bool is_told = false;
    for (int patience = 0; patience < 6 && !is_told; ++patience)
      is_told = tracer.wait_for_output("the oldest are given up");
    REQUIRE(is_told);
  }
  tracer.signal(SIGINT);
  const test::Ended ended = tracer.wait();
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  const truth::Truth truth = station.finish();

  trace::Reader reader = open_trace(trace);
  const PointCounts counts = count_points(reader);
  std::uint64_t given_up = 0;
  for (const model::LedgerEntry& entry : reader.ledger())
    given_up += entry.cause == model::LossCause::kWriterBehind ? entry.count : 0;
  CHECK(given_up > 0);
  check_counts(counts, truth, reader.capture());
  check_gaps(reader);
  CHECK(sojourn_done({"check", trace}).contains("every lost event is accounted for"));
}

}  // namespace
}  // namespace sojourn::live
