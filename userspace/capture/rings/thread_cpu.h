// Which CPU a thread was on between two looks at it, without asking it: /proc tells where it is and
// how often it has changed its CPU since its birth. No state.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <sys/types.h>

namespace sojourn::capture {

struct CpuLook {
  std::int32_t cpu = -1;    // -1: not known
  std::uint64_t moves = 0;  // from one CPU to another, since the thread was born
  std::uint64_t born = 0;   // as /proc tells it; 0: this is the look at its birth, of any thread
};

// None: it has ended, or this kernel does not tell.
std::optional<CpuLook> look_at_cpu(pid_t pid, pid_t tid);

// The CPU that the thread was on all the time from one look to a later one; -1: it changed.
constexpr std::int32_t cpu_between(const CpuLook& from, const CpuLook& until) {
  const bool is_same_thread = from.born == 0 || from.born == until.born;
  return is_same_thread && from.moves == until.moves ? until.cpu : -1;
}

// From the texts of /proc/PID/task/TID/stat and .../sched.
std::optional<CpuLook> cpu_look(std::string_view stat, std::string_view sched);

}  // namespace sojourn::capture
