// The counters that --counters knows by name, as the kernel's perf events, and whether this machine
// and these rights give one. Plain data and trials on this process itself.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"

namespace sojourn::capture {

struct PerfKind {
  std::string_view name;
  std::uint32_t type = 0;  // PERF_TYPE_
  std::uint64_t config = 0;
  std::uint64_t period = 1;       // of a sample, where none is asked for; 1: exact
  bool counts_in_kernel = false;  // it happens nowhere else
  std::string_view what;          // for people
};

std::span<const PerfKind> perf_kinds();
const PerfKind* perf_kind(std::string_view name);  // null: there is none

struct CounterWanted {
  const PerfKind* kind = nullptr;
  std::uint64_t period = 1;
};

// "page-faults,cycles=1000000": each counter once; what is after = is the period of its samples.
Result<std::vector<CounterWanted>> parse_counters(std::string_view list);

// "999Hz", "1kHz", "100": so many samples a second of a thread that runs.
Result<std::uint64_t> parse_frequency(std::string_view text);

// The CPU time that a profile's samples count, as if it were one of the counters.
const PerfKind& profile_clock();

// What of a counter is to be had here.
struct PerfOffer {
  std::string missing;     // why it is not; empty: it is
  bool user_only = false;  // without what the kernel does: no rights to that
};
PerfOffer ask_perf(const PerfKind& kind);

// The most samples a second that the kernel lets a thread have; nothing where it does not say.
std::optional<std::uint64_t> max_samples_a_second();

}  // namespace sojourn::capture
