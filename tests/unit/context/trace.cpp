#include "tests/unit/context/trace.h"

#include <initializer_list>
#include <string>

namespace sojourn::context::test {

namespace {

model::Point point(const char* name, std::initializer_list<const char*> fields) {
  model::Point made;
  made.direction = model::Direction::kContext;
  made.src = name;
  for (const char* field : fields) made.fields.push_back({.name = field});
  return made;
}

std::uint64_t pid_of(std::uint32_t tid) {
  return tid >= 900 || tid == 0 ? tid : kPid;
}

}  // namespace

Trace::Trace() {
  model::Point of_target;
  of_target.src = "ip.in";
  of_target.dest = "pdcp.in";
  schema.points = {
      of_target,
      point("sched.switch", {"prev", "prev_pid", "state", "next", "next_pid", "next_prio"}),
      point("sched.wakeup", {"waker", "waker_pid", "from", "cpu", "ns"}),
      point("sched.migrate", {"from", "to"}),
      point("irq", {"number", "ns", "nested"}),
      point("softirq", {"number", "ns"}),
      point("syscall", {"number", "ns", "result", "arg0", "op"}),
      point("fault", {"address", "ip", "code"})};
  for (const char* family : {"sched", "irq", "syscalls", "faults"})
    context.families.push_back({.name = family, .missing = ""});
  capture.open_ns = kOpen;
  capture.close_ns = kClose;
  for (std::uint32_t cpu = 0; cpu < 2; ++cpu)
    streams.push_back({.id = cpu,
                       .engine = model::Engine::kKernel,
                       .cpu = static_cast<std::int32_t>(cpu),
                       .tid = -1});
}

void Trace::is_thread(std::uint32_t tid, const char* state) {
  context.names.push_back({.kind = model::NameKind::kThread,
                           .id = tid,
                           .name = "thread " + std::to_string(tid),
                           .pid = kPid,
                           .state = state});
}

void Trace::add(std::uint64_t ts_ns, std::uint32_t cpu, std::uint32_t tid, model::PointId point,
                std::vector<std::uint64_t> values) {
  events.append({.ts_ns = ts_ns,
                 .seq = events.size(),
                 .stream = cpu,
                 .tid = tid,
                 .point = point,
                 .values = values});
}

void Trace::on_switch(std::uint64_t ts_ns, std::uint32_t cpu, std::uint32_t prev,
                      std::uint64_t state, std::uint32_t next) {
  add(ts_ns, cpu, pid_of(prev) == kPid ? prev : next, kSwitch,
      {prev, pid_of(prev), state, next, pid_of(next), 120});
}

void Trace::call(std::uint64_t begin_ns, std::uint64_t end_ns, std::uint32_t tid,
                 std::uint64_t number, std::int64_t result, std::uint64_t arg0, std::uint64_t op) {
  add(end_ns, 0, tid, kSyscall,
      {number, end_ns - begin_ns, static_cast<std::uint64_t>(result), arg0, op});
}

void Trace::wakeup(std::uint64_t ts_ns, std::uint32_t tid, std::uint32_t waker, std::uint64_t from,
                   std::uint64_t cpu) {
  add(ts_ns, 0, tid, kWakeup, {waker, pid_of(waker), from, cpu, 5});
}

}  // namespace sojourn::context::test
