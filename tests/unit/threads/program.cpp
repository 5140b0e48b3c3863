#include "tests/unit/threads/program.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace sojourn::threads::test {

Program::Program() {
  const auto name = [this](model::NameKind kind, std::uint64_t id, const char* text) {
    const bool is_own = kind != model::NameKind::kSyscall;
    trace.context.names.push_back(
        {.kind = kind, .id = id, .name = text, .pid = is_own ? kPid : 0UL, .state = {}});
  };
  name(model::NameKind::kThread, 101, "reader");
  name(model::NameKind::kThread, 102, "worker");
  name(model::NameKind::kThread, 103, "sender");
  name(model::NameKind::kThread, 104, "tick");
  name(model::NameKind::kSyscall, kRead, "read");
  name(model::NameKind::kSyscall, kSendto, "sendto");
  name(model::NameKind::kSyscall, kRecvfrom, "recvfrom");
  name(model::NameKind::kSyscall, kFutex, "futex");
  name(model::NameKind::kSyscall, kYield, "sched_yield");
  name(model::NameKind::kSyscall, kNanosleep, "clock_nanosleep");
  name(model::NameKind::kSyscall, kEpollWait, "epoll_wait");
  name(model::NameKind::kDescriptor, kSocketIn, "udp 127.0.0.1:2152");
  name(model::NameKind::kDescriptor, kSocketOut, "socket:[4242]");
  name(model::NameKind::kDescriptor, kTimer, "anon_inode:[timerfd]");
}

void Program::waits(std::uint32_t tid, const Waiting& when, std::uint32_t by, std::uint64_t from) {
  using context::test::kSleeping;
  trace.on_switch(when.begin_ns, tid % 2, tid, kSleeping, 0);
  trace.wakeup(when.woken_ns, tid, by, from, tid % 2);
  trace.on_switch(when.runs_ns, tid % 2, 0, 0, tid);
}

void Program::waits_in(std::uint32_t tid, const Waiting& when, std::uint32_t by, std::uint64_t from,
                       std::uint64_t number, std::int64_t result, std::uint64_t arg0,
                       std::uint64_t op) {
  waits(tid, when, by, from);
  trace.call(when.begin_ns - 1, when.runs_ns + 1, tid, number, result, arg0, op);
}

void Program::rests(std::uint32_t tid, std::uint64_t from_ns) {
  trace.on_switch(from_ns, tid % 2, tid, context::test::kSleeping, 0);
}

std::unique_ptr<ThreadSurvey> Program::survey(std::uint64_t end_ns, ActivitySelection selection) {
  std::vector<std::size_t> order(trace.events.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [this](std::size_t row) { return trace.events[row].ts_ns; });
  model::EventBatch events;
  for (const std::size_t row : order) events.append(trace.events[row]);
  auto made =
      std::make_unique<ThreadSurvey>(trace.schema, trace.context, trace.streams, trace.capture,
                                     model::Pids{{kPid, 0}}, std::move(selection));
  made->consume(events);
  made->finish(end_ns);
  return made;
}

}  // namespace sojourn::threads::test
