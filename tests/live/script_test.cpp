// Commands that have no points themselves, such as scripts: programs that they become are recorded,
// and with --follow those that they start, from the first instruction on or from the instant in the
// trace.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/live/point_hits.h"
#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

constexpr auto kPoint = "library.in--library.out";
constexpr auto kRounds = 2000;

std::string linked(unsigned rounds = kRounds) {
  return std::string(SJ_SUBJECT_LINKED) + " " + std::to_string(rounds);
}

class Script {
 public:
  explicit Script(const std::string& lines) : path_(directory_.path("start.sh")) {
    REQUIRE(chmod(directory_.path().c_str(), 0777) == 0);
    std::ofstream(path_) << "#!/bin/sh\n" << lines << "\n";
    REQUIRE(chmod(path_.c_str(), 0755) == 0);
  }

  const std::string& path() const { return path_; }
  std::string trace() const { return directory_.path("run.sjt"); }

  test::Ended record(std::vector<std::string> options,
                     std::vector<std::string> command = {}) const {
    options.insert(options.begin(), {"record", "-o", trace()});
    options.emplace_back("--");
    if (command.empty()) command = {path_};
    options.insert(options.end(), command.begin(), command.end());
    return sojourn(std::move(options));
  }

 private:
  test::TemporaryDirectory directory_;
  std::string path_;
};

bool is_whole(const Hits& hits, std::size_t rounds = kRounds) {
  return hits.counts.size() == rounds && hits.counts.front() == 0 && is_gapless(hits);
}

TEST_CASE("the program that a script becomes is recorded by rings from its first instruction on") {
  need_root();
  const std::string engine = GENERATE("auto", "ring");
  CAPTURE(engine);
  const Script script("sleep 0.3\nexec " + linked());
  const test::Ended ended = script.record({"--engine", engine, "--budget", "none"});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.err.contains("recorded from its first instruction on"));
  trace::Reader reader = open_trace(script.trace());
  const auto hits = hits_by_process(reader, kPoint);
  REQUIRE(hits.size() == 1);
  CHECK(is_whole(hits.begin()->second));
  CHECK(is_whole(hits_of(reader, "linked.in--library.in")));
  CHECK(reader.capture().unarmed.empty());
  CHECK(reader.capture().engine == model::Engine::kRing);
  REQUIRE_FALSE(reader.targets().empty());
  CHECK(reader.targets().back().exe == SJ_SUBJECT_LINKED);
  // The cost of its hits is known, although no points were known at the start.
  CHECK(sojourn_done({"report", "--costs", script.trace()}).contains("what tracing took"));
}

TEST_CASE("by eBPF the program that a script becomes counts from when the trace says") {
  need_root();
  const Script script("exec " + linked());
  const test::Ended ended = script.record({"--engine", "bpf", "--budget", "none"});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  trace::Reader reader = open_trace(script.trace());
  const Hits hits = hits_of(reader, kPoint);
  REQUIRE_FALSE(hits.counts.empty());
  CHECK(is_gapless(hits));
  CHECK(hits.counts.back() + 1 == kRounds);
  CHECK(reader.ledger().empty());
  std::uint64_t armed_ns = 0;
  for (const model::UnarmedSpan& span : reader.capture().unarmed)
    armed_ns = std::max(armed_ns, span.until_ns);
  CHECK(reader.capture().open_ns < armed_ns);
  CHECK(hits.first_ns >= armed_ns);
}

TEST_CASE(
    "programs that a script starts obey --points and --where, and misspelt ones are reported") {
  need_root();
  const Script script("exec " + linked());
  CHECK(script.record({"--points", "linked.*", "--where", "number < 10"}).exit_code == 0);
  trace::Reader reader = open_trace(script.trace());
  CHECK(reader.schema().points.size() == 1);
  CHECK(hits_of(reader, "linked.in--library.in").counts.size() == 10);

  const test::Ended ended = script.record({"--points", "linkd.*"});
  CAPTURE(ended.err);
  CHECK(ended.err.contains("no point matches linkd.*"));
}

TEST_CASE("programs that a script starts are recorded with --follow, each one whole") {
  need_root();
  const Script script(linked() + " &\n" + linked() + " &\nsleep 0.2\n" + linked() + "\nwait");
  const test::Ended ended = script.record({"--follow"});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  trace::Reader reader = open_trace(script.trace());
  const auto hits = hits_by_process(reader, kPoint);
  CHECK(hits.size() == 3);
  for (const auto& [pid, of_one] : hits) {
    CAPTURE(pid);
    CHECK(is_whole(of_one));
    const auto target = std::ranges::find(reader.targets(), pid, &model::Target::pid);
    REQUIRE(target != reader.targets().end());
    CHECK(target->exe == SJ_SUBJECT_LINKED);
    CHECK(target->parent != 0);
  }
}

TEST_CASE("a script may end before the programs that it has started") {
  need_root();
  const Script script("(sleep 0.3; exec " + linked() + ") &\nexit 0");
  const test::Ended ended = script.record({"--follow"});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  trace::Reader reader = open_trace(script.trace());
  CHECK(is_whole(hits_of(reader, kPoint)));
  CHECK(reader.capture().ended_by == "target exit");
}

TEST_CASE("programs that end before they are found are reported") {
  need_root();
  const Script script("for i in 1 2 3 4 5 6 7 8 9 10; do " + linked(2) + "; done\nexec " +
                      linked(200));
  const test::Ended ended = script.record({"--follow"});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  trace::Reader reader = open_trace(script.trace());
  const auto hits = hits_by_process(reader, kPoint);
  std::set<std::uint32_t> told_of;  // programs with a message that events may be missing
  for (const model::UnarmedSpan& span : reader.capture().unarmed)
    if (span.point == model::kNoPoint || reader.schema().points[span.point].name() == kPoint)
      told_of.insert(static_cast<std::uint32_t>(span.pid));
  std::set<std::uint32_t> known = told_of;
  for (const auto& [pid, of_one] : hits) {
    CAPTURE(pid);
    const auto process = static_cast<std::uint32_t>(pid);
    CHECK((told_of.contains(process) || is_whole(of_one, 2) || is_whole(of_one, 200)));
    known.insert(process);
  }
  CHECK(known.size() == 11);
}

// The program ends before it is examined, while it is attached to, or after that: it depends on the
// machine which.
TEST_CASE("eBPF reports the span before a program was attached to, in a whole trace") {
  need_root();
  const unsigned rounds = GENERATE(1U, 20U, 60U, 80U, 100U, 120U, 200U);
  CAPTURE(rounds);
  const Script script(linked(rounds) + "\nexit 0");
  const test::Ended ended = script.record({"--follow", "--engine", "bpf", "--budget", "none"});
  CAPTURE(ended.err);
  if (ended.exit_code == 1) {  // before anybody has seen what its points are
    CHECK(ended.err.contains("has executed no program with points that could be recorded"));
    CHECK_FALSE(std::filesystem::exists(script.trace()));
    return;
  }
  REQUIRE(ended.exit_code == 0);
  sojourn_done({"check", script.trace()});
  trace::Reader reader = open_trace(script.trace());
  CHECK_FALSE(reader.capture().unarmed.empty());
  const Hits own = hits_of(reader, "linked.in--library.in");
  const Hits library = hits_of(reader, kPoint);
  for (const Hits& hits : {own, library})
    CHECK((hits.counts.empty() || (is_gapless(hits) && hits.counts.back() == rounds - 1)));
  if (own.counts.empty() && library.counts.empty()) {
    const bool is_told_of = ended.err.contains("ended before all of its points were attached");
    CHECK((is_told_of || ended.err.contains("recorded from now on")));  // after its last hit
    CHECK(ended.err.contains("nothing of it was seen before it ended"));
  }
}

TEST_CASE("rings without a reader are switched off") {
  need_root();
  const Script script(linked(100'000) + " & echo $! > $0.child\nexec " + linked(100'000));
  test::Child tracer(
      {SJ_SOJOURN, "record", "--budget", "none", "-o", script.trace(), "--", script.path()});
  REQUIRE(tracer.wait_for_output("from its first instruction on"));
  const pid_t stranger = std::stoi(test::contents(script.path() + ".child"));
  const auto has_named_rings = [&] {
    const std::string maps = test::contents("/proc/" + std::to_string(stranger) + "/maps");
    return maps.find("sojourn-rings-") != std::string::npos &&
           maps.find("(deleted)") == std::string::npos;
  };
  for (int patience = 0; patience < 1000 && has_named_rings(); ++patience) usleep(10'000);
  CHECK_FALSE(has_named_rings());
  // A capture that attaches later finds none of its earlier events.
  const test::TemporaryDirectory directory;
  const std::string late = directory.path("late.sjt");
  sojourn_done(
      {"record", "-p", std::to_string(stranger), "--engine", "ring", "--for", "200ms", "-o", late});
  trace::Reader reader = open_trace(late);
  const Hits hits = hits_of(reader, kPoint);
  REQUIRE_FALSE(hits.counts.empty());
  CHECK(hits.counts.front() > 0);
  kill(stranger, SIGKILL);
  tracer.signal(SIGINT);
  const test::Ended ended = tracer.wait();
  CAPTURE(ended.err);
  CHECK(ended.exit_code == 0);
  trace::Reader own = open_trace(script.trace());
  const auto by_process = hits_by_process(own, kPoint);
  CHECK(by_process.size() == 1);
  CHECK_FALSE(by_process.contains(stranger));
  REQUIRE_FALSE(own.targets().empty());
  kill(own.targets().back().pid, SIGKILL);
}

TEST_CASE("a script that becomes no program with points is reported, and --follow is suggested") {
  need_root();
  const Script script(linked(10) + "\nexit 3");
  test::write_contents(script.trace(), "older");
  const test::Ended ended = script.record({});
  CAPTURE(ended.err);
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.contains("has executed no program with points"));
  CHECK(ended.err.contains("--follow"));
  CHECK(test::contents(script.trace()) == "older");
  CHECK_FALSE(std::filesystem::exists(script.trace() + ".partial"));
}

TEST_CASE("a program without points is refused unless its children are to be followed") {
  need_root();
  const Script script("");
  const std::vector<std::string> command = {"env", "LEVEL=1", SJ_SUBJECT_LINKED, "300"};
  const test::Ended refused = script.record({}, command);
  CAPTURE(refused.err);
  CHECK(refused.exit_code == 1);
  CHECK(refused.err.contains("add --follow"));
  const test::Ended ended = script.record({"--follow"}, command);
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  trace::Reader reader = open_trace(script.trace());
  CHECK(is_whole(hits_of(reader, kPoint), 300));
}

TEST_CASE("a command that is followed is one program in the trace") {
  need_root();
  const std::string engine = GENERATE("ring", "bpf");
  CAPTURE(engine);
  const Script script("");
  const test::Ended ended = script.record({"--follow", "--engine", engine, "--budget", "none"},
                                          {SJ_SUBJECT_LINKED, "300"});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  trace::Reader reader = open_trace(script.trace());
  CHECK(is_whole(hits_of(reader, kPoint), 300));
  CHECK(reader.targets().size() == 1);
  CHECK(reader.capture().unarmed.empty());
}

TEST_CASE(
    "an ordinary user records the program that a script becomes, and those it starts, by rings") {
  if (geteuid() != 0) SKIP("becoming another user needs root; run as root to have this tested");
  const bool follows = GENERATE(false, true);
  CAPTURE(follows);
  const Script script(follows ? linked() + " &\nwait" : "exec " + linked());
  std::vector<std::string> arguments = {
      "setpriv",         "--reuid=65534", "--regid=65534", "--clear-groups",
      "--inh-caps=-all", SJ_SOJOURN,      "record",        "-o",
      script.trace()};
  if (follows) arguments.emplace_back("--follow");
  arguments.insert(arguments.end(), {"--", script.path()});
  const test::Ended ended = test::run(arguments);
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  trace::Reader reader = open_trace(script.trace());
  CHECK(is_whole(hits_of(reader, kPoint)));
}

}  // namespace
}  // namespace sojourn::live
