// Reads one record of a perf event's ring from its bytes. The kernel wrote them, yet every size is
// checked, as the ring is mapped memory: a record that does not fit is refused. No system calls, no
// state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include <linux/perf_event.h>

namespace sojourn::capture {

// The fields of every sample. Some have PERF_SAMPLE_CALLCHAIN as well.
constexpr std::uint64_t kPerfSampleType =
    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;

struct PerfSample {
  std::uint64_t event =
      0;  // the id of the event that was opened, also in threads that inherited it
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint64_t ts_ns = 0;
  std::uint64_t period = 0;  // the number of events that the sample stands for
  // The stack, if events of this id have one: as the kernel gives it, with its marks in between.
  std::span<const std::byte> chain;
};

struct PerfLost {
  std::uint64_t count = 0;
};

struct PerfThreadName {
  std::uint32_t tid = 0;
  std::string_view name;
};

struct PerfThreadEnd {
  std::uint32_t tid = 0;
};

struct PerfMapping {};  // code was mapped

struct PerfOther {};  // a record that is skipped

struct PerfBroken {};  // no valid record, so the records behind it cannot be found either

using PerfRecord = std::variant<PerfSample, PerfLost, PerfThreadName, PerfThreadEnd, PerfMapping,
                                PerfOther, PerfBroken>;

// `bytes` is the whole record, its header first. Views into it live as long as it does.
PerfRecord read_perf_record(std::span<const std::byte> bytes);

}  // namespace sojourn::capture
