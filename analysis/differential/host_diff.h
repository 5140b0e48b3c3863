// Compares what `sojourn host` measured on two machines, kernels or settings. With one profile a
// side only the spread within each is known: a difference may be chance. With repeats the medians
// of whole runs are compared, by the statistics of comparison.h. Functions without state.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/host/host_profile.h"

namespace sojourn::differential {

enum class HostFinding : std::uint8_t {
  kNone,       // the middle halves overlap; of repeats: chance may explain it
  kApart,      // one run a side, and their middle halves do not overlap
  kChanged,    // by repeats: chance does not explain it
  kTooLittle,  // this few repeats cannot show a difference in this many tests
  kUnstable,   // one run a side, and the samples of a side are not stable: nothing can be said
  kOnlyLeft,
  kOnlyRight,
};
std::string_view name(HostFinding finding);

struct MeasurementDiff {
  std::string id = {};
  std::string name = {};
  host::Unit unit = host::Unit::kNs;
  bool is_less_better = true;
  double left = 0;  // the median; of repeats the median of their medians
  double right = 0;
  std::optional<double> half;  // of the 95 % interval of the difference of means; of repeats
  std::optional<double> p;     // of one test; of repeats
  double adjusted_p = 1;       // of all tests together
  HostFinding finding = HostFinding::kNone;

  double change() const { return left != 0 ? right / left - 1 : 0; }
};

struct FactDiff {
  std::string id;
  std::string name;
  std::string left;
  std::string right;
};

struct HostDiff {
  std::size_t left_runs = 0;
  std::size_t right_runs = 0;
  std::size_t tests = 0;             // tests that share the level; 0: one run a side
  std::size_t runs_needed = 0;       // of each side, for this number of tests
  std::vector<FactDiff> facts = {};  // facts that are not equal
  std::vector<MeasurementDiff> measurements = {};
};

// The chance that all tests together call one measurement changed where none is.
inline constexpr double kHostLevel = 0.05;

// Each side has one profile at least.
HostDiff compare_hosts(std::span<const host::HostProfile> left,
                       std::span<const host::HostProfile> right);

nlohmann::ordered_json to_json(const HostDiff& diff);

}  // namespace sojourn::differential
