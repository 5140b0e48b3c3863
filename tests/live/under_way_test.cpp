// Threads that a debugger stops in the middle of a hit: it has its place in the ring, and is not
// whole when the capture ends. Kept and lost events together are still all hits.
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "tests/live/environment.h"
#include "tests/live/programs.h"
#include "userspace/capture/rings/mapped_arena.h"
#include "userspace/capture/rings/owner_page.h"

namespace sojourn::live {
namespace {

// tests/live/subjects/last_words.cpp with one thread, which numbers its hits and goes on.
class Subject {
 public:
  explicit Subject(const char* rings = "on") {
    const Environment mode("SJ_RINGS", rings);
    child_.emplace(std::vector<std::string>{SJ_SUBJECT_LAST_WORDS, "1", "100000000", "go",
                                            directory_.path("counts")});
    REQUIRE(child_->wait_for_output("ready"));
  }

  test::Child& child() { return *child_; }
  std::string pid() const { return std::to_string(child_->pid()); }
  std::string path(const std::string& name) const { return directory_.path(name); }

  std::uint64_t hits_begun() const {
    std::uint64_t begun = 0;
    const std::string bytes = test::contents(directory_.path("counts"));
    REQUIRE(bytes.size() >= sizeof begun);
    std::memcpy(&begun, bytes.data(), sizeof begun);
    return begun;
  }
  void go_on(std::uint64_t hits) const {
    const std::uint64_t until = hits_begun() + hits;
    for (int tries = 0; tries < 2000 && hits_begun() < until; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    REQUIRE(hits_begun() >= until);
  }

 private:
  test::TemporaryDirectory directory_;
  std::optional<test::Child> child_;
};

// Holds the thread as a debugger does, and lets it go when it is destroyed.
class Debugger {
 public:
  explicit Debugger(pid_t pid) : pid_(pid) {
    REQUIRE(ptrace(PTRACE_SEIZE, pid_, nullptr, nullptr) == 0);
    REQUIRE(ptrace(PTRACE_INTERRUPT, pid_, nullptr, nullptr) == 0);
    wait();
  }
  Debugger(const Debugger&) = delete;
  Debugger& operator=(const Debugger&) = delete;
  ~Debugger() { ptrace(PTRACE_DETACH, pid_, nullptr, nullptr); }

  // Steps to the instruction after a hit's stamp, and `on` instructions further.
  void step_behind_stamp(int on) const {
    for (int steps = 0; steps < 1'000'000; ++steps) {
      const bool reads_counter = is_at_rdtsc();
      step();
      if (!reads_counter) continue;
      for (; on > 0; --on) step();
      return;
    }
    FAIL("no hit");
  }

  // Steps to the instruction after a hit has reserved its place, and `on` instructions further.
  void step_into_hit(int on) const {
    const auto process = tracee::Process::open(pid_);
    REQUIRE(process);
    const auto found = capture::find_arenas(*process);
    REQUIRE(found);
    REQUIRE(found->size() == 1);
    const auto arena = capture::open_arena(*process, found->front());
    REQUIRE(arena);
    for (int steps = 0; steps < 1'000'000; ++steps) {
      step();
      if (!is_in_hit(*arena)) continue;
      for (; on > 0; --on) step();
      REQUIRE(is_in_hit(*arena));
      return;
    }
    FAIL("no hit");
  }

 private:
  bool is_in_hit(const capture::Arena& arena) const {
    const auto own = capture::read_owner_page(arena, 0, pid_);
    return own && own->alive != 0 && own->reserved > arena.ring(0).cursor;
  }
  bool is_at_rdtsc() const {
#ifdef __x86_64__
    user_regs_struct registers{};
    REQUIRE(ptrace(PTRACE_GETREGS, pid_, nullptr, &registers) == 0);
    const long code = ptrace(PTRACE_PEEKTEXT, pid_, registers.rip, nullptr);
    return (code & 0xffff) == 0x310f;
#else
    return false;
#endif
  }
  void step() const {
    REQUIRE(ptrace(PTRACE_SINGLESTEP, pid_, nullptr, nullptr) == 0);
    wait();
  }
  void wait() const {
    int status = 0;
    REQUIRE(waitpid(pid_, &status, __WALL) == pid_);
    REQUIRE(WIFSTOPPED(status));
  }

  pid_t pid_;
};

// The steps of a hit on x86-64 after it has reserved its place: four instructions write the stamp,
// seven the point, fourteen show the record. Four before that, it reads the counter.
constexpr int kTakesPlace = 4;
constexpr int kReadStamp = -4;
constexpr int kTakesItNext = -1;
constexpr int kHasPlace = 0;
constexpr int kHasStamp = 4;
constexpr int kSaysWhich = 8;

void step_to(const Debugger& debugger, int steps) {
  if (steps < 0)
    debugger.step_behind_stamp(kTakesPlace + steps);
  else
    debugger.step_into_hit(steps);
}

test::Child start_recording(const Subject& subject, const std::string& trace) {
  return test::Child(
      {SJ_SOJOURN, "record", "-p", subject.pid(), "--engine", "ring", "-o", subject.path(trace)});
}

std::vector<std::uint64_t> numbers_of(trace::Reader& reader) {
  std::vector<std::uint64_t> numbers;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) numbers.push_back(batch[row].values[2]);
    return true;
  }));
  for (std::size_t row = 1; row < numbers.size(); ++row)
    REQUIRE(numbers[row] == numbers[row - 1] + 1);
  REQUIRE(numbers.size() > 100);
  return numbers;
}

TEST_CASE(
    "a hit that its thread was stopped in is in the ledger, and the next capture has it not") {
#ifndef __x86_64__
  SKIP("single steps never get past an exclusive store");
#endif
  const int steps = GENERATE(kReadStamp, kTakesItNext, kHasPlace, kHasStamp, kSaysWhich);
  CAPTURE(steps);
  Subject subject;
  test::Child tracer = start_recording(subject, "run.sjt");
  REQUIRE(tracer.wait_for_output("attached"));
  subject.go_on(1000);
  std::uint64_t begun = 0;
  test::Ended ended;
  {
    const Debugger debugger(subject.child().pid());
    step_to(debugger, steps);
    begun = subject.hits_begun();
    tracer.signal(SIGINT);
    ended = tracer.wait();
    // The hit began before this capture, and is not one of its hits.
    sojourn_done({"record", "-p", subject.pid(), "--engine", "ring", "--for", "200ms", "-o",
                  subject.path("stopped.sjt")});
  }
  trace::Reader stopped = open_trace(subject.path("stopped.sjt"));
  CHECK(stopped.events() == 0);
  CHECK(stopped.ledger().empty());
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.err.contains("1 lost"));
  CHECK(ended.err.contains("1 of the lost events had begun and did not end"));
  trace::Reader reader = open_trace(subject.path("run.sjt"));
  const auto numbers = numbers_of(reader);
  CHECK(numbers.back() + 2 == begun);  // the last one is under way
  const model::LedgerEntry lost{
      .stream = 0, .point = 0, .cause = model::LossCause::kUnderWay, .count = 1};
  CHECK(reader.ledger() == model::Ledger{lost});
  CHECK(reader.capture().stream_hits == std::vector<std::uint64_t>{numbers.size() + 1});
  const std::string check = sojourn_done({"check", subject.path("run.sjt")});
  CHECK(check.contains("lost     1 (under way)"));

  subject.go_on(1000);
  sojourn_done({"record", "-p", subject.pid(), "--engine", "ring", "--for", "300ms", "-o",
                subject.path("next.sjt")});
  trace::Reader next = open_trace(subject.path("next.sjt"));
  CHECK(numbers_of(next).front() > begun);
  CHECK(next.ledger().empty());
}

TEST_CASE("a dump has a thread's unfinished hit as lost, and the end of the capture has not") {
#ifndef __x86_64__
  SKIP("single steps never get past an exclusive store");
#endif
  const int steps = GENERATE(kTakesItNext, kHasPlace, kSaysWhich);
  CAPTURE(steps);
  Subject subject;
  test::Child tracer({SJ_SOJOURN, "record", "-p", subject.pid(), "--engine", "ring", "--flight",
                      "60s", "-o", subject.path("run.sjt")});
  REQUIRE(tracer.wait_for_output("attached"));
  subject.go_on(1000);
  std::uint64_t begun = 0;
  {
    const Debugger debugger(subject.child().pid());
    step_to(debugger, steps);
    begun = subject.hits_begun();
    sojourn_done({"ctl", "-p", subject.pid(), "dump"});
  }
  trace::Reader dump = open_trace(subject.path("run-1.sjt"));
  CHECK(numbers_of(dump).back() + 2 == begun);
  const model::LedgerEntry lost{
      .stream = 0, .point = 0, .cause = model::LossCause::kUnderWay, .count = 1};
  CHECK(dump.ledger() == model::Ledger{lost});
  CHECK(sojourn_done({"check", subject.path("run-1.sjt")}).contains("lost     1 (under way)"));

  subject.go_on(1000);
  tracer.signal(SIGINT);
  CHECK(tracer.wait().exit_code == 0);
  trace::Reader whole = open_trace(subject.path("run.sjt"));
  CHECK(numbers_of(whole).back() > begun);
  CHECK(whole.ledger().empty());
}

TEST_CASE("a hit that its process died in, while it was recorded, is in the ledger") {
#ifndef __x86_64__
  SKIP("single steps never get past an exclusive store");
#endif
  Subject subject;
  test::Child tracer = start_recording(subject, "run.sjt");
  REQUIRE(tracer.wait_for_output("attached"));
  subject.go_on(1000);
  {
    const Debugger debugger(subject.child().pid());
    debugger.step_into_hit(kSaysWhich);
    subject.child().signal(SIGKILL);
  }
  const test::Ended ended = tracer.wait();
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  trace::Reader reader = open_trace(subject.path("run.sjt"));
  CHECK(numbers_of(reader).back() + 2 == subject.hits_begun());
  const model::LedgerEntry lost{
      .stream = 0, .point = 0, .cause = model::LossCause::kTargetGone, .count = 1};
  CHECK(reader.ledger() == model::Ledger{lost});
  sojourn_done({"check", subject.path("run.sjt")});
}

TEST_CASE("a snapshot of rings has the unfinished hit of a thread") {
#ifndef __x86_64__
  SKIP("single steps never get past an exclusive store");
#endif
  const int steps = GENERATE(kHasPlace, kSaysWhich);
  CAPTURE(steps);
  Subject subject("flight");
  subject.go_on(1000);
  const Debugger debugger(subject.child().pid());
  debugger.step_into_hit(steps);
  sojourn_done({"record", "-p", subject.pid(), "--snapshot", "-o", subject.path("now.sjt")});
  trace::Reader reader = open_trace(subject.path("now.sjt"));
  const auto numbers = numbers_of(reader);
  CHECK(numbers.back() + 2 == subject.hits_begun());
  const model::LedgerEntry lost{
      .stream = 0, .point = 0, .cause = model::LossCause::kUnderWay, .count = 1};
  CHECK(reader.ledger() == model::Ledger{lost});
  CHECK(reader.capture().stream_hits == std::vector<std::uint64_t>{numbers.size() + 1});
  sojourn_done({"check", subject.path("now.sjt")});
}

}  // namespace
}  // namespace sojourn::live
