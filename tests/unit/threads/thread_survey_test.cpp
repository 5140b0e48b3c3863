// The activity of a program's threads, from switches, wakeups and system calls.
#include "analysis/threads/thread_survey.h"

#include <algorithm>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "analysis/threads/thread_role.h"
#include "tests/unit/threads/program.h"

namespace sojourn::threads {
namespace {

using namespace test;

const WakeupEdge& edge(const ThreadSurvey& survey, WakeCause cause, std::uint32_t by,
                       std::uint32_t tid, WaitChannel channel = {}) {
  const auto found =
      survey.edges().find({.cause = cause, .by = by, .tid = tid, .channel = channel});
  INFO(name(cause) << " " << by << " -> " << tid << " in " << channel.number << " at "
                   << channel.at);
  REQUIRE(found != survey.edges().end());
  return found->second;
}

TEST_CASE("a hand-over by a futex is an edge: how often, how long waited, how long to running") {
  Program program;
  for (std::uint64_t at : {1100, 1300, 1500})
    program.waits_in(102, {at, at + 50, at + 60}, 101, kByThread, kFutex, 0, 0x7f04,
                     kFutexWaitBitset);
  const auto survey = program.survey(2000);
  const WakeupEdge& found = edge(*survey, WakeCause::kThread, 101, 102, {kFutex, 0x7f00});
  CHECK(found.count == 3);
  CHECK(found.waited_ns == 150);
  CHECK(found.delay_ns.count() == 3);
  CHECK(found.delay_ns.max() == 10);
  CHECK(survey->edges().size() == 1);
  CHECK(guess_role(survey->threads().at(102)).role == ThreadRole::kDriven);
}

// Selects the activity until `until_ns`, of all threads or of one.
ActivitySelection until(std::uint64_t until_ns, std::uint32_t only = 0) {
  return {
      .wants = [=](std::uint32_t tid, std::int32_t,
                   std::uint64_t ts_ns) { return ts_ns < until_ns && (only == 0 || tid == only); },
      .time_of = [=](std::uint32_t tid, std::int32_t, std::uint64_t begin_ns,
                     std::uint64_t end_ns) -> std::uint64_t {
        if (only != 0 && tid != only) return 0;
        return std::min(end_ns, until_ns) - std::min(begin_ns, until_ns);
      }};
}

TEST_CASE("a selection of threads' activity has its own times, waits, calls and paths") {
  Program program;
  // Two packets: 101 receives each, wakes 102, which sends it.
  for (const std::uint64_t at : {1100U, 1500U}) {
    program.waits_in(101, {at, at + 50, at + 60}, 0, kBySoftirq, kRecvfrom, 100, kSocketIn);
    program.waits_in(102, {at + 20, at + 70, at + 80}, 101, kByThread, kFutex, 0, 0x7f00,
                     kFutexWaitBitset);
    program.trace.call(at + 90, at + 95, 102, kSendto, 100, kSocketOut);
  }
  const auto all = program.survey(2000);
  const auto first = program.survey(2000, until(1400));
  const auto sender = program.survey(2000, until(UINT64_MAX, 102));

  CHECK(all->threads().at(101).total_ns() == 2000 - kOpen);
  CHECK(first->threads().at(101).total_ns() == 1400 - kOpen);
  CHECK(first->threads().at(101).blocked_ns == 50);
  CHECK(edge(*all, WakeCause::kThread, 101, 102, {kFutex, 0x7f00}).count == 2);
  CHECK(edge(*first, WakeCause::kThread, 101, 102, {kFutex, 0x7f00}).count == 1);
  CHECK(first->threads().at(102).sent == 1);
  REQUIRE(all->paths().size() == 1);
  CHECK(all->paths().begin()->second.count() == 2);
  CHECK(first->paths().begin()->second.count() == 1);

  // The path belongs to the thread that sends, and the earlier input is known even so.
  CHECK_FALSE(sender->is_selected(sender->threads().at(101)));
  CHECK(sender->is_selected(sender->threads().at(102)));
  CHECK(sender->edges().size() == 1);
  CHECK(sender->paths().begin()->first.tids == std::vector<std::uint32_t>{101, 102});
  CHECK(sender->threads().at(102).running_ns == all->threads().at(102).running_ns);
}

TEST_CASE("the two futexes of a condition variable are one") {
  Program program;
  program.waits_in(102, {1100, 1150, 1160}, 101, kByThread, kFutex, 0, 0x7f00, kFutexWaitBitset);
  program.waits_in(102, {1300, 1350, 1360}, 101, kByThread, kFutex, 0, 0x7f04, kFutexWaitBitset);
  const auto survey = program.survey(2000);
  CHECK(edge(*survey, WakeCause::kThread, 101, 102, {kFutex, 0x7f00}).count == 2);
}

TEST_CASE("a futex for which the same threads wait and wake is a lock") {
  Program program;
  program.waits_in(102, {1100, 1150, 1160}, 101, kByThread, kFutex, 0, 0x9000, kFutexWait);
  program.waits_in(101, {1200, 1250, 1260}, 102, kByThread, kFutex, 0, 0x9000, kFutexWait);
  program.waits_in(103, {1300, 1350, 1360}, 104, kByThread, kFutex, 0, 0xa000, kFutexWait);
  program.waits_in(101, {1400, 1450, 1460}, 102, kByThread, kFutex, 0, 0xb000, kFutexWaitBitset);
  program.waits_in(102, {1500, 1550, 1560}, 101, kByThread, kFutex, 0, 0xb000, kFutexWaitBitset);
  const auto survey = program.survey(2000);
  CHECK(survey->futexes().at({kPid, 0x9000}).is_lock());
  CHECK_FALSE(survey->futexes().at({kPid, 0xa000}).is_lock());  // in one direction only
  CHECK_FALSE(survey->futexes().at({kPid, 0xb000}).is_lock());  // as a condition is waited for
}

TEST_CASE("the end of a wait has its waker, and the result of its call") {
  Program program;
  // A sleep, a timer's descriptor, a poll that timed out, a futex that did.
  program.waits_in(101, {1100, 1110, 1111}, 0, kByInterrupt, kNanosleep, 0);
  program.waits_in(101, {1120, 1130, 1131}, 0, kByInterrupt, kRead, 8, kTimer);
  program.waits_in(101, {1140, 1150, 1151}, 0, kByInterrupt, kEpollWait, 0, 3);
  program.waits_in(101, {1160, 1170, 1171}, 0, kByInterrupt, kFutex, -110, 0x7f00);
  // Waits for packets, ended by the soft interrupt; a poll, ended by a thread that writes to its
  // descriptor.
  program.waits_in(102, {1100, 1110, 1111}, 103, kBySoftirq, kRecvfrom, 100, kSocketIn);
  program.waits_in(102, {1120, 1130, 1131}, 900, kBySoftirq, kEpollWait, 1, 3);
  program.waits_in(103, {1100, 1110, 1111}, 104, kByThread, kEpollWait, 1, 3);
  // A wait outside of calls: for a page.
  program.waits(104, {1100, 1110, 1111}, 0, kByInterrupt);
  program.trace.call(1200, 1210, 104, kYield, 0);
  const auto survey = program.survey(2000);
  CHECK(edge(*survey, WakeCause::kTimer, 0, 101, {kNanosleep, 0}).count == 1);
  CHECK(edge(*survey, WakeCause::kTimer, 0, 101, {kRead, kTimer}).count == 1);
  CHECK(edge(*survey, WakeCause::kTimer, 0, 101, {kEpollWait, 3}).count == 1);
  CHECK(edge(*survey, WakeCause::kTimer, 0, 101, {kFutex, 0x7f00}).count == 1);
  CHECK(edge(*survey, WakeCause::kNetwork, 0, 102, {kRecvfrom, kSocketIn}).count == 1);
  CHECK(edge(*survey, WakeCause::kNetwork, 0, 102, {kEpollWait, 3}).count == 1);
  CHECK(edge(*survey, WakeCause::kThread, 104, 103, {kEpollWait, 3}).count == 1);
  CHECK(edge(*survey, WakeCause::kInterrupt, 0, 104).count == 1);
  CHECK(survey->edges().size() == 8);
}

TEST_CASE("a wait that has not ended is no edge, and its time is known all the same") {
  Program program;
  program.trace.on_switch(1100, 1, 101, context::test::kSleeping, 0);
  const auto survey = program.survey(2000);
  CHECK(survey->edges().empty());
  const ThreadActivity& activity = survey->threads().at(101);
  CHECK(activity.running_ns == 100);
  CHECK(activity.blocked_ns == 900);
  CHECK(guess_role(activity).role == ThreadRole::kIdle);
}

TEST_CASE("from a packet that comes in to the one that goes out, along the hand-overs") {
  Program program;
  // reader receives at 1111, wakes worker at 1130; that wakes sender at 1170, which sends at 1190.
  program.waits_in(101, {1100, 1105, 1110}, 900, kBySoftirq, kRecvfrom, 100, kSocketIn);
  program.waits_in(102, {1050, 1130, 1140}, 101, kByThread, kFutex, 0, 0x7f00, kFutexWaitBitset);
  program.waits_in(103, {1050, 1170, 1180}, 102, kByThread, kFutex, 0, 0x8f00, kFutexWaitBitset);
  program.trace.call(1190, 1195, 103, kSendto, 100, kSocketOut);
  // A second packet of the same input is not another way.
  program.trace.call(1200, 1205, 103, kSendto, 100, kSocketOut);
  const auto survey = program.survey(2000);
  REQUIRE(survey->paths().size() == 1);
  const auto& [path, latency] = *survey->paths().begin();
  CHECK(path.tids == std::vector<std::uint32_t>{101, 102, 103});
  CHECK(path.in == kSocketIn);
  CHECK(path.out == kSocketOut);
  CHECK(latency.count() == 1);
  CHECK(latency.max() == 1190 - 1111);
  CHECK(survey->threads().at(101).received == 1);
  CHECK(survey->threads().at(103).sent == 2);
  CHECK(survey->traffic().at({.tid = 103, .number = kSendto, .descriptor = kSocketOut}).amount ==
        200);
}

TEST_CASE("a thread that a timer woke does not send what it got earlier") {
  Program program;
  program.waits_in(101, {1100, 1105, 1110}, 900, kBySoftirq, kRecvfrom, 100, kSocketIn);
  program.waits_in(102, {1050, 1130, 1140}, 101, kByThread, kFutex, 0, 0x7f00, kFutexWaitBitset);
  program.waits_in(102, {1150, 1200, 1210}, 0, kByInterrupt, kFutex, -110, 0x7f00,
                   kFutexWaitBitset);
  program.trace.call(1220, 1225, 102, kSendto, 100, kSocketOut);
  CHECK(program.survey(2000)->paths().empty());
}

TEST_CASE("a lock, a sleep and a page fault in the midst of work do not change the path") {
  Program program;
  program.waits_in(103, {1010, 1015, 1018}, 104, kByThread, kFutex, 0, 0x9000, kFutexWait);
  program.waits_in(104, {1020, 1025, 1028}, 103, kByThread, kFutex, 0, 0x9000, kFutexWait);
  program.waits_in(101, {1100, 1105, 1110}, 900, kBySoftirq, kRecvfrom, 100, kSocketIn);
  program.waits_in(101, {1120, 1125, 1128}, 103, kByThread, kFutex, 0, 0x9000, kFutexWait);
  program.waits_in(101, {1130, 1135, 1138}, 0, kByInterrupt, kNanosleep, 0);
  program.waits(101, {1140, 1145, 1148}, 0, kByInterrupt);
  program.trace.call(1160, 1165, 101, kSendto, 100, kSocketOut);
  const auto survey = program.survey(2000);
  REQUIRE(survey->paths().size() == 1);
  CHECK(survey->paths().begin()->first.tids == std::vector<std::uint32_t>{101});
  CHECK(survey->paths().begin()->second.max() == 1160 - 1111);
}

TEST_CASE("a packet that one thread of the program sends to another is reported") {
  Program program;
  program.waits_in(101, {1100, 1150, 1160}, 104, kBySoftirq, kRecvfrom, 100, kSocketIn);
  program.trace.call(1140, 1170, 104, kSendto, 100, kSocketOut);
  // The network ended the wait while 104 happened to run, which sent nothing.
  program.waits_in(101, {1200, 1250, 1260}, 104, kBySoftirq, kRecvfrom, 100, kSocketIn);
  program.trace.call(1280, 1290, 104, kYield, 0);
  const auto survey = program.survey(2000);
  CHECK(survey->loopback().size() == 1);
  CHECK(survey->loopback().at({104, 101}) == 1);
  CHECK(edge(*survey, WakeCause::kNetwork, 0, 101, {kRecvfrom, kSocketIn}).count == 2);
}

TEST_CASE("a timer at regular intervals makes a periodic thread, at irregular ones it does not") {
  Program program;
  for (std::uint64_t tick = 0; tick < 10; ++tick) {
    const std::uint64_t at = 1100 + 80 * tick;
    program.waits_in(104, {at, at + 50, at + 52}, 0, kByInterrupt, kNanosleep, 0);
    const std::uint64_t other = 1100 + 8 * tick * tick;
    program.waits_in(103, {other, other + 3, other + 4}, 0, kByInterrupt, kNanosleep, 0);
  }
  program.rests(103, 1760);
  const auto survey = program.survey(2000);
  const RoleGuess regular = guess_role(survey->threads().at(104));
  CHECK(regular.role == ThreadRole::kPeriodic);
  CHECK(regular.period_ns == 80);
  CHECK(guess_role(survey->threads().at(103)).role == ThreadRole::kTimed);
}

TEST_CASE("a thread that always runs is polling if its calls find nothing, else it is busy") {
  Program program;
  for (const std::uint32_t tid : {101, 102}) program.trace.on_switch(1001, tid % 2, 0, 0, tid);
  for (std::uint64_t at = 1010; at < 1990; at += 20) {
    program.trace.call(at, at + 1, 101, kRecvfrom, -11, kSocketIn);
    program.trace.call(at, at + 1, 102, kSendto, 100, kSocketOut);
  }
  const auto survey = program.survey(2000);
  CHECK(guess_role(survey->threads().at(101)).role == ThreadRole::kPolling);
  CHECK(guess_role(survey->threads().at(102)).role == ThreadRole::kBusy);
}

TEST_CASE("from being woken to the first hit of each point, until the thread waits again") {
  Program program;
  program.trace.add(1050, 0, 102, 0, {});  // it was not woken yet
  program.waits_in(102, {1100, 1150, 1160}, 101, kByThread, kFutex, 0, 0x7f00, kFutexWaitBitset);
  program.trace.add(1170, 0, 102, 0, {});
  program.trace.add(1180, 0, 102, 0, {});  // not the first
  program.trace.add(1190, 1, 101, 0, {});  // not woken
  program.waits_in(102, {1200, 1250, 1260}, 101, kByThread, kFutex, 0, 0x7f00, kFutexWaitBitset);
  program.trace.add(1290, 0, 102, 0, {});
  const auto survey = program.survey(2000);
  REQUIRE(survey->reactions().size() == 1);
  const auto& [key, times] = *survey->reactions().begin();
  CHECK(key == ReactionKey{102, 0});
  CHECK(survey->point_name(0) == "ip.in--pdcp.in");
  CHECK(times.count() == 2);
  CHECK(times.min() == 20);
  CHECK(times.max() == 40);
}

TEST_CASE("without system calls threads and their wakers are known, and no more") {
  Program program;
  std::erase_if(program.trace.schema.points,
                [](const model::Point& point) { return point.src == "syscall"; });
  program.waits(102, {1100, 1150, 1160}, 101, kByThread);
  program.waits(104, {1100, 1150, 1155}, 0, kByInterrupt);
  const auto survey = program.survey(2000);
  CHECK(survey->knows_states());
  CHECK_FALSE(survey->knows_calls());
  CHECK(edge(*survey, WakeCause::kThread, 101, 102).delay_ns.max() == 10);
  CHECK(edge(*survey, WakeCause::kInterrupt, 0, 104).delay_ns.max() == 5);
}

TEST_CASE("a trace from before system calls had arguments still shows who wakes whom") {
  Program program;
  program.trace.schema.points[context::test::kSyscall].fields.resize(3);
  program.waits_in(102, {1100, 1150, 1160}, 101, kByThread, kFutex, 0, 0x7f00, kFutexWaitBitset);
  const auto survey = program.survey(2000);
  CHECK(edge(*survey, WakeCause::kThread, 101, 102, {kFutex, 0}).count == 1);
}

}  // namespace
}  // namespace sojourn::threads
