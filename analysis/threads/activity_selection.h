// Selects activity of threads by the thread, the CPU that it had or had last (below 0: not known),
// and the time. Without functions all activity counts.
#pragma once

#include <cstdint>
#include <functional>

namespace sojourn::threads {

struct ActivitySelection {
  std::function<bool(std::uint32_t tid, std::int32_t cpu, std::uint64_t ts_ns)> wants = {};
  // The part of a span that is wanted.
  std::function<std::uint64_t(std::uint32_t tid, std::int32_t cpu, std::uint64_t begin_ns,
                              std::uint64_t end_ns)>
      time_of = {};

  bool is_selective() const { return wants != nullptr; }
};

}  // namespace sojourn::threads
