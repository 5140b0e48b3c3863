// The counters that --counters knows by name, as perf events of the kernel, and whether one is
// available on this machine with these rights. Plain data and trials on this process itself.
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
  std::uint64_t period = 1;       // the default period of a sample; 1: exact
  bool counts_in_kernel = false;  // it is an event of the kernel's own code
  std::string_view what;          // for people
};

std::span<const PerfKind> perf_kinds();
const PerfKind* perf_kind(std::string_view name);  // null: there is none

struct CounterWanted {
  const PerfKind* kind = nullptr;
  std::uint64_t period = 1;
};

// Parses "page-faults,cycles=1000000": each counter once; after = is the period of its samples.
Result<std::vector<CounterWanted>> parse_counters(std::string_view list);

// Parses samples a second of a running thread: "999Hz", "1kHz", "100".
Result<std::uint64_t> parse_frequency(std::string_view text);

// The CPU time that a profile's samples count, as if it were one of the counters.
const PerfKind& profile_clock();

// The availability of a counter on this machine.
struct PerfOffer {
  std::string missing;     // why it is not; empty: it is
  bool user_only = false;  // without the kernel's share: the rights for it are missing
};
PerfOffer ask_perf(const PerfKind& kind);

// The kernel's limit of samples a second; nothing if it does not say.
std::optional<std::uint64_t> max_samples_a_second();

}  // namespace sojourn::capture
