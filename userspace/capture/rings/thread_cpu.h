// Finds out whether a thread stayed on one CPU between two looks at it. /proc shows its CPU and how
// often it has moved to another one. The thread notices nothing. No state.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <sys/types.h>

namespace sojourn::capture {

struct CpuLook {
  std::int32_t cpu = -1;    // -1: not known
  std::uint64_t moves = 0;  // from one CPU to another, since the thread was born
  std::uint64_t born = 0;   // its start time in /proc; 0: this look is from the birth of any thread
};

// Returns nothing if the thread has ended, or if this kernel does not show its CPU.
std::optional<CpuLook> look_at_cpu(pid_t pid, pid_t tid);

// The CPU on which the thread stayed from one look to a later one; -1: it moved.
constexpr std::int32_t cpu_between(const CpuLook& from, const CpuLook& until) {
  const bool is_same_thread = from.born == 0 || from.born == until.born;
  return is_same_thread && from.moves == until.moves ? until.cpu : -1;
}

// Parses the texts of /proc/PID/task/TID/stat and .../sched.
std::optional<CpuLook> cpu_look(std::string_view stat, std::string_view sched);

}  // namespace sojourn::capture
