#include "userspace/capture/context/context_points.h"

#include <algorithm>
#include <array>
#include <string>

#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

constexpr std::array<std::string_view, kContextFamilies> kNames = {"sched", "irq", "syscalls",
                                                                   "faults", "sockets"};

constexpr std::array kSchedKinds = {SJ_CONTEXT_SWITCH, SJ_CONTEXT_WAKEUP, SJ_CONTEXT_MIGRATE};
constexpr std::array kIrqKinds = {SJ_CONTEXT_IRQ, SJ_CONTEXT_SOFTIRQ};
constexpr std::array kSyscallKinds = {SJ_CONTEXT_SYSCALL};
constexpr std::array kFaultKinds = {SJ_CONTEXT_FAULT};
constexpr std::array kSocketKinds = {SJ_CONTEXT_SOCKET_DROP};

struct Value {
  std::string_view name;
  std::uint8_t bytes;
  bool is_signed = false;
};

// Fields in the order of the kind's struct, whose members all have eight bytes.
template <typename Struct, std::size_t N>
model::Point make_point(std::string_view name, const Value (&values)[N]) {
  static_assert(sizeof(Struct) == N * sizeof(__u64));
  model::Point point;
  point.direction = model::Direction::kContext;
  point.src = name;
  point.file = "kernel";
  for (const Value& value : values)
    point.fields.push_back({.name = std::string(value.name),
                            .role = model::Role::kProperty,
                            .bytes = value.bytes,
                            .is_signed = value.is_signed});
  return point;
}

}  // namespace

std::string_view name(ContextFamily family) {
  return kNames[static_cast<std::size_t>(family)];
}

Result<std::vector<ContextFamily>> parse_context_families(std::string_view list) {
  std::array<bool, kContextFamilies> wanted{};
  for (const std::string_view word : tracee::split(list, ',')) {
    const auto found = std::ranges::find(kNames, word);
    if (found == kNames.end())
      return fail("\"{}\" is no context: there are sched, irq, syscalls, faults and sockets",
                  tracee::printable(word));
    wanted[static_cast<std::size_t>(found - kNames.begin())] = true;
  }
  std::vector<ContextFamily> families;
  for (std::size_t family = 0; family < wanted.size(); ++family)
    if (wanted[family]) families.push_back(static_cast<ContextFamily>(family));
  return families;
}

std::span<const sj_context_kind> kinds_of(ContextFamily family) {
  switch (family) {
    case ContextFamily::kSched:
      return kSchedKinds;
    case ContextFamily::kIrq:
      return kIrqKinds;
    case ContextFamily::kSyscalls:
      return kSyscallKinds;
    case ContextFamily::kFaults:
      return kFaultKinds;
    case ContextFamily::kSockets:
      return kSocketKinds;
  }
  return {};
}

model::Point point_of(sj_context_kind kind) {
  switch (kind) {
    case SJ_CONTEXT_SWITCH:
      return make_point<sj_switch>("sched.switch", {{"prev", 4},
                                                    {"prev_pid", 4},
                                                    {"state", 4},
                                                    {"next", 4},
                                                    {"next_pid", 4},
                                                    {"next_prio", 4, true}});
    case SJ_CONTEXT_WAKEUP:
      return make_point<sj_wakeup>(
          "sched.wakeup", {{"waker", 4}, {"waker_pid", 4}, {"from", 1}, {"cpu", 4}, {"ns", 8}});
    case SJ_CONTEXT_MIGRATE:
      return make_point<sj_migrate>("sched.migrate", {{"from", 4}, {"to", 4}});
    case SJ_CONTEXT_IRQ:
      return make_point<sj_irq>("irq", {{"number", 4}, {"ns", 8}, {"nested", 1}});
    case SJ_CONTEXT_SOFTIRQ:
      return make_point<sj_softirq>("softirq", {{"number", 1}, {"ns", 8}});
    case SJ_CONTEXT_SYSCALL:
      return make_point<sj_syscall>(
          "syscall", {{"number", 4}, {"ns", 8}, {"result", 8, true}, {"arg0", 8}, {"op", 4}});
    case SJ_CONTEXT_FAULT:
      return make_point<sj_fault>("fault", {{"address", 8}, {"ip", 8}, {"code", 4}});
    case SJ_CONTEXT_SOCKET_DROP:
      return make_point<sj_socket_drop>("socket.drop", {{"socket", 8}, {"bytes", 4}, {"error", 4}});
    case SJ_CONTEXT_KINDS:
      break;
  }
  return {};
}

}  // namespace sojourn::capture
