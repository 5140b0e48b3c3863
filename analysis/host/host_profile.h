// The profile of a machine that `sojourn host` makes: its description, and measurements on it.
// Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/host/knee_finder.h"
#include "analysis/host/sample_summary.h"

namespace sojourn::host {

// A fact that the machine reports about itself.
struct MachineFact {
  std::string id;      // stable, for programs: "cpu.model"
  std::string name;    // for people
  std::string value;   // empty: not known
  std::string source;  // the file, or why it is not known

  bool operator==(const MachineFact&) const = default;
};

enum class Unit : std::uint8_t { kNs, kBytesPerSecond, kBytes, kHertz, kPercent, kCount };
std::string_view name(Unit unit);  // "ns", "B/s"
std::optional<Unit> unit_named(std::string_view name);

// One row of the study's tables. Costs are in the measurement's own unit.
struct Measurement {
  std::string id;     // stable: "calls.syscall"
  std::string group;  // the group's name in --only: "calls"
  std::string name;
  std::string method;
  Unit unit = Unit::kNs;
  bool is_less_better = true;
  std::optional<double> hardware;  // base hardware cost
  std::optional<double> software;  // estimated software cost
  std::string basis;               // of both
  SampleSummary measured;          // count 0: see left_out
  std::string reason;              // why it deviates from what was predicted
  std::string unstable;            // why the samples are not stable; empty: they are
  std::string note;                // a remark for readers
  std::string left_out;            // why it was not measured

  bool is_measured() const { return measured.count != 0; }
  std::optional<double> predicted() const {
    if (!hardware && !software) return std::nullopt;
    return hardware.value_or(0) + software.value_or(0);
  }
  // Measured against predicted: 0.2 is a fifth more.
  std::optional<double> deviation() const;
  bool operator==(const Measurement&) const = default;
};

struct Curve {
  std::string id;
  std::string group;
  std::string name;
  std::string x_name;
  Unit x_unit = Unit::kBytes;
  std::string y_name;
  Unit y_unit = Unit::kNs;
  std::vector<CurvePoint> points;
  std::vector<Knee> knees;  // if they were searched
  std::string note;

  bool operator==(const Curve&) const = default;
};

// From each of some CPUs to each.
struct CpuMatrix {
  std::string id;
  std::string group;
  std::string name;
  Unit unit = Unit::kNs;
  std::vector<std::uint32_t> cpus;
  std::vector<std::optional<double>> values;  // row by row
  std::string note;

  bool operator==(const CpuMatrix&) const = default;
};

struct HostProfile {
  std::string tool;                 // "sojourn 0.1.0"
  std::string form;                 // "quick", "full", "brief"
  std::string boot_id;              // of the boot that it was measured in
  std::uint64_t measured_at_s = 0;  // UTC
  double took_s = 0;
  std::vector<MachineFact> facts;
  std::vector<Measurement> measurements;
  std::vector<Curve> curves;
  std::vector<CpuMatrix> matrices;
  std::vector<std::string> warnings;  // disturbances of the measurements

  const Measurement* find(std::string_view id) const;  // null where it was not measured
  const MachineFact* fact(std::string_view id) const;
  std::optional<double> median(std::string_view id) const;
  bool operator==(const HostProfile&) const = default;
};

}  // namespace sojourn::host
