// Tests whether a latency or a stay differs between two sides, and by how much. The compared values
// are practically independent: a mean of each run, or of each long block of a run; never packets.
// Plain functions without state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sojourn::differential {

enum class Unit : std::uint8_t { kRun, kBlock };
constexpr const char* name(Unit unit) {
  return unit == Unit::kRun ? "run" : "block";
}

enum class Verdict : std::uint8_t { kSame, kChanged, kTooLittle };
constexpr const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSame:
      return "same";
    case Verdict::kChanged:
      return "changed";
    case Verdict::kTooLittle:
      return "too little data";
  }
  return "";
}

// One side: the values of each run in the order of time.
using Runs = std::span<const std::vector<float>>;

// The shift of a quantile, or the mean, of all values from one side to the other.
struct Shift {
  double share = 0;  // of the quantile; 0: the mean
  double base = 0;
  double now = 0;
  std::optional<double> half;  // of the 95 % interval; unset: too few units

  double by() const { return now - base; }
};
inline constexpr double kMean = 0;

struct Comparison {
  std::string name = {};
  char direction = 'D';
  bool is_latency = false;  // else a stay in the place of that name
  std::size_t base_count = 0;
  std::size_t now_count = 0;
  std::size_t base_units = 0;  // runs or blocks
  std::size_t now_units = 0;
  double base_effective = 0;  // independent values that would say as much
  double now_effective = 0;
  std::vector<Shift> shifts = {};
  std::optional<double> p = std::nullopt;  // of one test; unset: too few units for any
  double adjusted_p = 1;                   // of all tests together
  Verdict verdict = Verdict::kTooLittle;
  // A time whose mean shifts by at most this has not changed, however sure the shift is.
  double resolution_ns = 0;

  // Normalised slowdown of a stay: the growth of its mean over the growth of its direction's
  // latency. 1: both grew alike; 0: it did not grow. Nothing if a side lacks the stay.
  std::optional<double> slowdown = std::nullopt;

  const Shift* shift(double share) const;
  bool is_below_resolution() const;
};

Comparison compare(Runs base, Runs now, Unit unit, std::span<const double> shares);

// Sets Holm's adjustment over all comparisons that have a p-value, and the verdicts at this level.
// If this many tests of this few units cannot show any difference, the verdicts are "too little
// data".
void judge(std::span<Comparison> all, double level);

// The number of runs of each side that can show a difference in this number of tests.
std::size_t runs_needed(std::size_t tests, double level);

}  // namespace sojourn::differential
