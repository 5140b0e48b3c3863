// A trace's record of its energy readings: the zones whose counters were read, the frequency
// policies and idle states beside them, and why something is missing. The readings themselves are
// events (docs/energy.md): Q energy.sample, Q energy.frequency and Q energy.idle. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/schema.h"

namespace sojourn::model {

// A counter of energy.
struct EnergyZone {
  std::uint32_t id = 0;       // the field `zone` of readings
  std::string host = {};      // if a trace has several hosts; empty: the trace's
  std::string package = {};   // "package-0": what it is a part of, or is itself; empty: the machine
  std::string name = {};      // "package-0", "core", "uncore", "dram", "psys"
  std::string source = {};    // "powercap" or "perf"
  std::string place = {};     // "intel-rapl:0:1", "power/energy-pkg on cpu 0"
  std::uint64_t range = 0;    // microjoules after which it begins at 0 again; 0: it does not
  std::string missing = {};   // why it is not in the trace, or not to its end; empty: it is
  std::uint64_t gone_ns = 0;  // when it was found to have vanished

  bool operator==(const EnergyZone&) const = default;
};

// CPUs that share one frequency, and its allowed range when the capture began.
struct FrequencyPolicy {
  std::uint32_t id = 0;  // the field `policy` of readings
  std::string host = {};
  std::string cpus = {};  // "0-3"
  std::string governor = {};
  std::uint64_t least_khz = 0;  // 0: not known
  std::uint64_t most_khz = 0;

  bool operator==(const FrequencyPolicy&) const = default;
};

// An idle state of all CPUs of a host together.
struct IdleState {
  std::uint32_t id = 0;  // the field `state` of readings
  std::string host = {};
  std::string name = {};   // "C6"
  std::uint32_t cpus = 0;  // that have it

  bool operator==(const IdleState&) const = default;
};

// Something that was asked for and is not there at all: "powercap", "perf", "frequency", "idle".
struct EnergyMissing {
  std::string host = {};
  std::string what = {};
  std::string why = {};

  bool operator==(const EnergyMissing&) const = default;
};

struct Energy {
  std::uint64_t period_ns = 0;  // between two readings of a zone; 0: energy was not asked for
  std::vector<EnergyZone> zones = {};
  std::vector<FrequencyPolicy> policies = {};
  std::vector<IdleState> idle_states = {};
  std::vector<EnergyMissing> missing = {};

  bool operator==(const Energy&) const = default;

  bool was_asked_for() const { return period_ns != 0; }
};

// The three points of readings. A zone's counter in microjoules; a policy's frequency; how long
// the CPUs of a host have been in an idle state together, in microseconds.
Point energy_point();
Point frequency_point();
Point idle_point();

enum class EnergyReadingKind : std::uint8_t { kEnergy, kFrequency, kIdle };
// Returns the kind of a point's readings; nothing for other points.
std::optional<EnergyReadingKind> energy_reading_kind(const Point& point);

}  // namespace sojourn::model
