// The sums that `sojourn report` shows.
#include "analysis/context/thread_times.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/context/trace.h"

namespace sojourn::context {
namespace {

using namespace test;

ThreadTime time_of(const Trace& trace, std::uint32_t tid) {
  ThreadTimes times(trace.schema, trace.context, trace.streams, trace.capture, {{kPid, 0}});
  times.consume(trace.events);
  times.finish(kClose);
  REQUIRE(times.threads().contains(tid));
  return times.threads().at(tid);
}

TEST_CASE("a thread's times add up to the span between the marks") {
  Trace trace;
  trace.is_thread(101, "R");
  trace.add(1050, 0, 101, kSoftirq, {3, 20});
  trace.on_switch(1100, 0, 101, kSleeping, 900);
  trace.wakeup(1300, 101, 102);
  trace.on_switch(1350, 0, 900, kWanted, 101);
  const ThreadTime time = time_of(trace, 101);
  CHECK(time.name == "thread 101");
  CHECK(time.interrupted_ns == 20);
  CHECK(time.running_ns == 100 + 650 - 20);
  CHECK(time.blocked_ns == 200);
  CHECK(time.runnable_ns == 50);
  CHECK(time.total_ns() == kClose - kOpen);
}

TEST_CASE("an interrupt inside of a soft one counts once") {
  Trace trace;
  trace.is_thread(101, "R");
  trace.add(1100, 0, 101, kIrq, {7, 30, 1});
  trace.add(1120, 0, 101, kSoftirq, {3, 80});
  trace.add(1300, 0, 101, kIrq, {7, 5, 0});
  CHECK(time_of(trace, 101).interrupted_ns == 85);
}

TEST_CASE("an interrupt that began before the open mark counts from there on") {
  Trace trace;
  trace.is_thread(101, "R");
  trace.add(1010, 0, 101, kSoftirq, {3, 500});
  CHECK(time_of(trace, 101).interrupted_ns == 10);
}

TEST_CASE("switches, preemptions, migrations, system calls and faults are counted by thread") {
  Trace trace;
  trace.is_thread(101, "R");
  trace.on_switch(1100, 0, 101, kWanted, 900);
  trace.on_switch(1200, 0, 900, kWanted, 101);
  trace.on_switch(1300, 0, 101, kSleeping, 900);
  trace.wakeup(1400, 101, 102);
  trace.add(1410, 0, 101, kMigrate, {0, 1});
  trace.add(1500, 1, 101, kSyscall, {202, 10, 0});
  trace.add(1510, 1, 101, kFault, {0x1000, 0x2000, 6});
  trace.add(1520, 1, 101, kFault, {0x3000, 0x2000, 6});
  const ThreadTime time = time_of(trace, 101);
  CHECK(time.switches == 2);
  CHECK(time.preempted == 1);
  CHECK(time.wakeups == 1);
  CHECK(time.migrations == 1);
  CHECK(time.syscalls == 1);
  CHECK(time.faults == 2);
}

TEST_CASE("threads of others are not among the target's") {
  Trace trace;
  trace.on_switch(1100, 0, 900, kWanted, 101);
  trace.on_switch(1200, 0, 101, kWanted, 901);
  ThreadTimes times(trace.schema, trace.context, trace.streams, trace.capture, {{kPid, 0}});
  times.consume(trace.events);
  times.finish(kClose);
  CHECK(times.threads().size() == 1);
}

TEST_CASE("the newest name of a thread is its name") {
  Trace trace;
  trace.is_thread(101, "R");
  trace.context.names.push_back(
      {.kind = model::NameKind::kThread, .id = 101, .name = "later", .pid = kPid, .state = ""});
  CHECK(time_of(trace, 101).name == "later");
}

}  // namespace
}  // namespace sojourn::context
