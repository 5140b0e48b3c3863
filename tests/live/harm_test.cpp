// A tracer may lose an event; it never harms the target.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

using std::chrono::milliseconds;

// Runs one of the subjects of tests/probes under the tracer until it has been hit often enough.
struct Traced {
  test::Ended subject;
  std::uint64_t events = 0;
};

Traced trace_subject(const char* program, const std::string& attach, const std::string& span) {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child subject({program, "60"});
  REQUIRE(subject.wait_for_output("ready"));
  sojourn_done({"record", "-p", std::to_string(subject.pid()), "--for", span, "-o", trace,
                "--attach", attach, "--budget", "none"});
  subject.signal(SIGTERM);
  Traced traced{.subject = subject.wait(), .events = open_trace(trace).events()};
  return traced;
}

TEST_CASE("a leaf function keeps its red zone while it is traced") {
  need_root();
  const std::string attach = GENERATE("multi", "perf");
  CAPTURE(attach);
  const Traced traced = trace_subject(SJ_SUBJECT_REDZONE, attach, "2s");
  CAPTURE(traced.subject.out);
  CHECK(traced.subject.exit_code == 0);
  CHECK(traced.subject.out.contains("corrupted=0"));
  CHECK(traced.events >= 200'000);
}

TEST_CASE("children that a traced process forks survive and run on") {
  need_root();
  const std::string attach = GENERATE("multi", "perf");
  CAPTURE(attach);
  const Traced traced = trace_subject(SJ_SUBJECT_FORK, attach, "1s");
  CAPTURE(traced.subject.out);
  CHECK(traced.subject.exit_code == 0);
  CHECK(traced.events >= 50);
}

// How many bytes the kernel allocated for each BPF map that the process has open.
std::vector<std::uint64_t> map_sizes(pid_t pid) {
  std::vector<std::uint64_t> sizes;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fdinfo")) {
    std::ifstream about(entry.path());
    bool is_map = false;
    for (std::string line; std::getline(about, line);) {
      is_map |= line.starts_with("map_type:");
      if (is_map && line.starts_with("memlock:"))
        sizes.push_back(std::stoull(line.substr(line.find('\t') + 1)));
    }
  }
  return sizes;
}

// A kernel that does not preempt itself keeps real-time threads waiting while it makes a map.
TEST_CASE("no single call to the kernel makes much of the rings' memory") {
  need_root();
  const test::TemporaryDirectory directory;
  const Station station;
  test::Child tracer({SJ_SOJOURN, "record", "-p", std::to_string(station.pid()), "-o",
                      directory.path("run.sjt"), "--context", "sched", "--ring-size", "16M"});
  REQUIRE(tracer.wait_for_output("attached"));
  const std::vector<std::uint64_t> sizes = map_sizes(tracer.pid());
  // A ring takes at least half of what was asked for; those of the kernel context come besides.
  CHECK(std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}) > std::uint64_t{8} << 20);
  CHECK(std::ranges::max(sizes) < 3 << 20);
  tracer.signal(SIGINT);
  CHECK(tracer.wait().exit_code == 0);
}

bool no_breakpoints(const std::vector<unsigned char>& bytes) {
#ifdef __x86_64__
  constexpr unsigned char kNop = 0x90;
#else
  constexpr unsigned char kNop = 0x1f;  // the first byte of d503201f
#endif
  return std::ranges::all_of(bytes, [](unsigned char byte) { return byte == kNop; });
}

TEST_CASE("after a capture no breakpoint is left in the target") {
  need_root();
  const std::string attach = GENERATE("multi", "perf");
  CAPTURE(attach);
  const test::TemporaryDirectory directory;
  Station station;
  const tracee::Points points = points_of(station.pid());
  REQUIRE(no_breakpoints(site_bytes(station.pid(), points)));
  test::Child tracer({SJ_SOJOURN, "record", "-p", std::to_string(station.pid()), "-o",
                      directory.path("run.sjt"), "--attach", attach, "--budget", "none"});
  REQUIRE(tracer.wait_for_output("attached"));
  CHECK(!no_breakpoints(site_bytes(station.pid(), points)));
  tracer.signal(SIGINT);
  CHECK(tracer.wait().exit_code == 0);
  CHECK(no_breakpoints(site_bytes(station.pid(), points)));
  CHECK(open_trace(directory.path("run.sjt")).capture().ended_by == "interrupt");
}

// False when its writer ended or a minute passed without: perf uprobes take seconds to attach while
// those before are still being removed.
bool grows_beyond(const std::string& path, std::uintmax_t bytes, test::Child& writer) {
  for (int tries = 0; tries < 6000 && writer.running(); ++tries) {
    std::error_code missing;
    const std::uintmax_t size = std::filesystem::file_size(path, missing);
    if (!missing && size > bytes) return true;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

TEST_CASE(
    "a tracer that is killed leaves the target running, unpatched, and ready for the next one") {
  need_root();
  const std::string attach = GENERATE("multi", "perf");
  CAPTURE(attach);
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("killed.sjt");
  // Little traffic: its truth is kept for all the time that the removal of probes takes.
  Station station({"--rate-dl", "2000", "--rate-ul", "1000"});
  const tracee::Points points = points_of(station.pid());
  // From before the attach to the middle of the capture; the last one when it has events on disk.
  for (const int delay_ms : {0, 5, 20, 60, 110, 170, 400, -1}) {
    CAPTURE(delay_ms);
    test::Child tracer({SJ_SOJOURN, "record", "-p", std::to_string(station.pid()), "-o", trace,
                        "--attach", attach, "--budget", "none"});
    bool is_ready = true;
    if (delay_ms < 0)
      is_ready = grows_beyond(trace + ".partial", 100'000, tracer);
    else
      std::this_thread::sleep_for(milliseconds(delay_ms));
    tracer.signal(SIGKILL);
    const std::string said = tracer.wait().err;
    INFO(said);
    REQUIRE(is_ready);
    // The process that holds the probes takes them off; perf uprobes take seconds.
    for (int tries = 0; tries < 6000 && !no_breakpoints(site_bytes(station.pid(), points)); ++tries)
      std::this_thread::sleep_for(milliseconds(10));
    CHECK(no_breakpoints(site_bytes(station.pid(), points)));
    REQUIRE(station.running());
  }
  // The blocks that the last one had written are readable.
  trace::Reader killed = open_trace(trace + ".partial");
  CHECK(killed.events() > 1000);
  CHECK(killed.capture().close_ns == 0);

  const std::string next = directory.path("next.sjt");
  sojourn_done({"record", "-p", std::to_string(station.pid()), "--for", "300ms", "-o", next,
                "--attach", attach, "--budget", "none"});
  CHECK(open_trace(next).events() > 1000);
  // A capture of the same name keeps the file that was left, and reports it.
  const test::Ended again = sojourn({"record", "-p", std::to_string(station.pid()), "--for",
                                     "100ms", "-o", trace, "--attach", attach, "--budget", "none"});
  CHECK(
      again.err.contains("the unfinished trace of a killed capture is " + trace + ".partial~ now"));
  CHECK(open_trace(trace + ".partial~").events() == killed.events());
  CHECK(station.finish().packets.size() > 1000);
}

TEST_CASE("a target that is killed ends the capture, and its trace is whole") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child station({SJ_BASESTATION, "--ready-fd", "3"});
  REQUIRE(station.wait_for_ready_line() == "ready\n");
  test::Child tracer({SJ_SOJOURN, "record", "-p", std::to_string(station.pid()), "-o", trace});
  REQUIRE(tracer.wait_for_output("attached"));
  std::this_thread::sleep_for(milliseconds(500));
  station.signal(SIGKILL);
  CHECK(tracer.wait().exit_code == 0);
  trace::Reader reader = open_trace(trace);
  CHECK(reader.capture().ended_by == "target exit");
  CHECK(reader.capture().close_ns > 0);
  CHECK(reader.damage().empty());
  CHECK(reader.events() > 1000);
}

}  // namespace
}  // namespace sojourn::live
