// The events of a trace in the Common Trace Format (CTF), as LTTng and others write them, in the
// order of time. babeltrace2's library reads them, by its own plugins of the system; plugins of the
// user are not loaded. One thread calls it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "analysis/base/result.h"
#include "analysis/hits/hit.h"

namespace sojourn::ctf {

struct CtfEvent {
  hits::Hit hit;  // its time is the clock's, in nanoseconds; valid during the call only
  std::optional<std::uint64_t> unix_ns;  // unset: the clock has no known offset to 1970
};

struct CtfClock {
  std::string name;  // "monotonic"; empty: events have no times
  std::optional<std::uint64_t> zero_unix_ns;
};

struct TakeCtf {
  // Before the first event of a stream class: its clock. An error ends the reading.
  std::function<Result<void>(const CtfClock& clock)> clock;
  std::function<Result<void>(const CtfEvent& event)> event;
  std::function<void(std::uint64_t lost)> lost;
};

// All traces in the directory and below it. An error names what babeltrace2 names.
Result<void> read_ctf(const std::string& directory, const TakeCtf& take);

}  // namespace sojourn::ctf
