// A program of four threads, whose context is written by hand: how each of its waits ended.
#pragma once

#include <cstdint>
#include <memory>

#include "analysis/threads/thread_survey.h"
#include "tests/unit/context/trace.h"

namespace sojourn::threads::test {

using context::test::kOpen;
using context::test::kPid;

// System calls and descriptors, as the trace names them.
enum : std::uint64_t { kRead = 0, kSendto = 44, kRecvfrom = 45, kFutex = 202, kYield = 24 };
enum : std::uint64_t { kNanosleep = 230, kEpollWait = 232 };
enum : std::uint64_t { kSocketIn = 5, kSocketOut = 6, kTimer = 7 };
enum : std::uint64_t { kFutexWait = 0x80, kFutexWaitBitset = 0x89 };  // both private
enum : std::uint64_t { kByThread = 0, kBySoftirq = 1, kByInterrupt = 2 };

class Program {
 public:
  Program();

  // On CPU `tid % 2`: the thread waits from `begin_ns` to `woken_ns` in a call that began right
  // before, runs again at `runs_ns`, and returns from the call one nanosecond later.
  struct Waiting {
    std::uint64_t begin_ns = 0;
    std::uint64_t woken_ns = 0;
    std::uint64_t runs_ns = 0;
  };
  void waits(std::uint32_t tid, const Waiting& when, std::uint32_t by, std::uint64_t from);
  void waits_in(std::uint32_t tid, const Waiting& when, std::uint32_t by, std::uint64_t from,
                std::uint64_t number, std::int64_t result, std::uint64_t arg0 = 0,
                std::uint64_t op = 0);

  // It waits from then on.
  void rests(std::uint32_t tid, std::uint64_t from_ns);

  context::test::Trace trace;

  // A survey of all events, in the order of time.
  std::unique_ptr<ThreadSurvey> survey(std::uint64_t end_ns, ActivitySelection selection = {});
};

}  // namespace sojourn::threads::test
