// Compares what was measured on two machines, kernels or settings. With one profile a side only
// the spread within each is known: a difference may be chance. With repeats the medians of whole
// runs are compared: how often they would differ as much if both sides were the same. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/host/host_profile.h"

namespace sojourn::host {

enum class Difference : std::uint8_t {
  kNone,      // the middle halves overlap; of repeats: chance may explain it
  kApart,     // one run a side, and their middle halves do not overlap
  kChanged,   // by repeats: chance does not explain it
  kUnstable,  // the samples of a side are not stable: nothing can be said
  kOnlyLeft,
  kOnlyRight,
};
std::string_view name(Difference difference);

struct MeasurementDiff {
  std::string id;
  std::string name;
  Unit unit = Unit::kNs;
  bool is_less_better = true;
  double left = 0;  // the median; of repeats the median of their medians
  double right = 0;
  double p = 1;  // of repeats; 1 of single runs
  Difference difference = Difference::kNone;

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
  std::vector<FactDiff> facts;  // that are not equal
  std::vector<MeasurementDiff> measurements;
};

// Below this chance is no explanation any more.
inline constexpr double kSignificant = 0.05;

// Each side has one profile at least.
HostDiff compare(std::span<const HostProfile> left, std::span<const HostProfile> right);

// How often two sides that are alike have medians at least as far apart in rank (Mann and Whitney,
// two-sided, by all ways to deal the values out). 1 where there are more than 24 values.
double rank_p(std::span<const double> left, std::span<const double> right);

nlohmann::ordered_json to_json(const HostDiff& diff);

}  // namespace sojourn::host
