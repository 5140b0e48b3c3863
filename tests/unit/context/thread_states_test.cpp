// The states of a thread, from switches and wakeups.
#include "analysis/context/thread_states.h"

#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/unit/context/trace.h"

namespace sojourn::context {
namespace {

using namespace test;

std::string words(const ThreadSpan& span) {
  constexpr const char* kStates[] = {"unknown", "running", "runnable", "blocked", "gone"};
  std::string text = fmt::format("{}-{} {}", span.begin_ns, span.end_ns,
                                 kStates[static_cast<std::size_t>(span.state)]);
  if (span.state == State::kRunning) text += fmt::format(" on {}", span.cpu);
  if (span.by != 0) text += fmt::format(" by {}", span.by);
  return text;
}

std::vector<std::string> spans_of(const Trace& trace, std::uint32_t tid) {
  std::vector<std::string> spans;
  ThreadStates states(trace.schema, trace.context, trace.capture, {{kPid, 0}},
                      [&](const ThreadSpan& span) {
                        if (span.tid == tid) spans.push_back(words(span));
                      });
  for (std::size_t row = 0; row < trace.events.size(); ++row)
    states.consume(trace.events[row], static_cast<std::int32_t>(trace.events[row].stream));
  states.finish(kClose);
  return spans;
}

using Spans = std::vector<std::string>;

TEST_CASE("a thread that waits, is woken, queues and runs has a span of each") {
  Trace trace;
  trace.on_switch(1100, 1, 101, kSleeping, 900);
  trace.wakeup(1300, 101, 102, 0, 1);
  trace.on_switch(1350, 1, 900, kWanted, 101);
  CHECK(spans_of(trace, 101) == Spans{"1000-1100 running on 1", "1100-1300 blocked by 102",
                                      "1300-1350 runnable by 900", "1350-2000 running on 1"});
}

TEST_CASE("a preempted thread waits for the thread that took its CPU") {
  Trace trace;
  trace.on_switch(1200, 0, 101, kWanted, 900);
  trace.on_switch(1500, 0, 901, kSleeping, 101);
  CHECK(spans_of(trace, 101) ==
        Spans{"1000-1200 running on 0", "1200-1500 runnable by 900", "1500-2000 running on 0"});
}

TEST_CASE("a switch between two threads of the target is both's") {
  Trace trace;
  trace.on_switch(1400, 0, 101, kSleeping, 102);
  CHECK(spans_of(trace, 101) == Spans{"1000-1400 running on 0", "1400-2000 blocked"});
  CHECK(spans_of(trace, 102) == Spans{"1000-1400 runnable by 101", "1400-2000 running on 0"});
}

TEST_CASE("a thread without events did the same all along") {
  Trace trace;
  trace.is_thread(101, "R");
  trace.is_thread(102, "S");
  CHECK(spans_of(trace, 101) == Spans{"1000-2000 running on -1"});
  CHECK(spans_of(trace, 102) == Spans{"1000-2000 blocked"});
}

TEST_CASE("a thread's first event overrides its assumed state") {
  Trace trace;
  trace.is_thread(101, "S");
  trace.on_switch(1200, 0, 101, kWanted, 900);
  CHECK(spans_of(trace, 101).front() == "1000-1200 running on 0");
}

TEST_CASE("a thread that is made was not there before") {
  Trace trace;
  trace.wakeup(1100, 101, 102, 3);
  trace.on_switch(1150, 0, 102, kSleeping, 101);
  trace.on_switch(1700, 0, 101, kDead, 0);
  CHECK(spans_of(trace, 101) == Spans{"1000-1100 gone by 102", "1100-1150 runnable by 102",
                                      "1150-1700 running on 0", "1700-2000 gone"});
}

TEST_CASE("between contradicting events a thread's state is not known") {
  Trace trace;
  trace.on_switch(1100, 0, 101, kSleeping, 900);
  // Its wakeup and its way onto the CPU are missing.
  trace.on_switch(1400, 0, 101, kSleeping, 900);
  CHECK(spans_of(trace, 101) ==
        Spans{"1000-1100 running on 0", "1100-1400 unknown", "1400-2000 blocked"});
}

TEST_CASE("a thread that is woken before it sleeps goes on") {
  Trace trace;
  trace.on_switch(1100, 0, 900, kWanted, 101);
  trace.wakeup(1200, 101, 102);
  CHECK(spans_of(trace, 101) == Spans{"1000-1100 runnable by 900", "1100-2000 running on 0"});
}

TEST_CASE("a trace whose points lack the fields gives no spans") {
  Trace trace;
  trace.schema.points[kSwitch].fields.pop_back();
  trace.schema.points[kSwitch].fields.pop_back();
  trace.is_thread(101, "R");
  trace.on_switch(1100, 0, 101, kSleeping, 900);
  CHECK(spans_of(trace, 101).empty());
}

}  // namespace
}  // namespace sojourn::context
