// How often tests that are looked at after each run raise a false alarm, and how many runs they
// take if a stage sleeps 50 us longer. On seeded queues, three stages and the latency, at 5 % of
// all four together, at most 30 runs of each side. Usage: sequential-power [PAIRS=200]
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <span>
#include <vector>

#include <fmt/core.h>

#include "analysis/differential/anderson_darling.h"
#include "analysis/differential/blocks.h"
#include "analysis/differential/multiple_tests.h"
#include "analysis/differential/sequential_test.h"
#include "tests/unit/differential/queueing.h"

namespace sojourn::differential {
namespace {

constexpr double kLevel = 0.05;
constexpr std::size_t kRows = 4;
constexpr std::size_t kMostRuns = 60;
constexpr std::size_t kPackets = 1000;

bool of_new(std::size_t run) {
  return run % 4 == 1 || run % 4 == 2;
}

// Differences of neighbours, whose sign is random if nothing differs.
std::vector<double> differences_of(std::span<const Turn> turns) {
  std::vector<double> differences;
  for (std::size_t at = 0; at + 1 < turns.size(); at += 2)
    differences.push_back((turns[at + 1].value - turns[at].value) * (turns[at].is_new ? -1 : 1));
  return differences;
}

// A bet on signs alone: the mixture over all chances of a plus (Krichevsky and Trofimov).
double sign_evidence(std::span<const Turn> turns) {
  double pluses = 0;
  double all = 0;
  double product = 1;
  for (const double difference : differences_of(turns)) {
    const bool is_plus = difference > 0;
    product *= 2 * ((is_plus ? pluses : all - pluses) + 0.5) / (all + 1);
    pluses += is_plus ? 1 : 0;
    all += 1;
  }
  return product;
}

// A bet on signs that is the higher the larger the difference is, by those before it; a mixture of
// several courages, on either sign.
double size_evidence(std::span<const Turn> turns) {
  constexpr std::array kCourages = {0.5, 1.0, 2.0, 4.0};
  const auto differences = differences_of(turns);
  double sum = 0;
  for (const double courage : kCourages)
    for (const double sign : {1.0, -1.0}) {
      double product = 1;
      double squares = 0;
      double all = 0;
      for (const double difference : differences) {
        squares += difference * difference;
        all += 1;
        const double scale = std::sqrt(squares / all);
        if (scale > 0) product *= 1 + sign * std::tanh(courage * difference / scale);
      }
      sum += product;
    }
  return sum / (2 * kCourages.size());
}

using Rows = std::array<std::vector<Turn>, kRows>;
using IsCertain = std::function<bool(const Rows&)>;

IsCertain by_evidence(double (*of)(std::span<const Turn>)) {
  return [of](const Rows& rows) {
    std::vector<double> all;
    for (const auto& turns : rows) all.push_back(of(turns));
    return std::ranges::any_of(adjusted_evidence(all),
                               [](double each) { return each >= 1 / kLevel; });
  };
}

// The test of `diff`, which is for a fixed number of runs, looked at after each run.
bool by_fixed_test(const Rows& rows) {
  if (rows[0].size() < 8) return false;
  std::vector<double> p_values;
  for (const auto& turns : rows) {
    std::vector<std::vector<double>> sides(2);
    for (const Turn& turn : turns) sides[turn.is_new ? 1 : 0].push_back(turn.value);
    p_values.push_back(p_value(sides, *anderson_darling(sides)).midrank);
  }
  return std::ranges::any_of(holm(p_values), [](double p) { return p <= kLevel; });
}

// After how many runs of both sides; kMostRuns + 1: never.
std::size_t runs_until(const IsCertain& is_certain, std::uint64_t seed, double load,
                       double extra_us) {
  Rows rows;
  for (std::size_t run = 0; run < kMostRuns; ++run) {
    const bool is_new = of_new(run);
    const bool is_slow = is_new && extra_us > 0;
    const Stages made = make_queues(seed * 1000 + run, kPackets, load, kRows - 1,
                                    is_slow ? 1 : SIZE_MAX, is_slow ? extra_us : 0);
    for (std::size_t row = 0; row < kRows; ++row)
      rows[row].push_back({.value = mean(std::span<const float>(
                               row < made.stays.size() ? made.stays[row] : made.total)),
                           .is_new = is_new});
    if (is_certain(rows)) return run + 1;
  }
  return kMostRuns + 1;
}

void print_row(const char* name, const IsCertain& is_certain, unsigned pairs) {
  fmt::print("{:<34}", name);
  for (const double load : {0.5, 0.8, 0.9}) {
    unsigned alarms = 0;
    for (unsigned pair = 0; pair < pairs; ++pair)
      alarms += runs_until(is_certain, pair + 1, load, 0) <= kMostRuns ? 1 : 0;
    fmt::print("{:>9.1f} %", 100.0 * alarms / pairs);
  }
  for (const double extra_us : {50.0, 20.0}) {
    std::vector<std::size_t> runs;
    for (unsigned pair = 0; pair < pairs; ++pair)
      runs.push_back(runs_until(is_certain, pair + 1, 0.4, extra_us));
    std::ranges::sort(runs);
    const auto found = std::ranges::count_if(runs, [](std::size_t n) { return n <= kMostRuns; });
    fmt::print("{:>11} ({:>4.0f} %)", runs[pairs / 2],
               100.0 * static_cast<double>(found) / static_cast<double>(pairs));
  }
  fmt::print("\n");
}

void print_all(unsigned pairs) {
  fmt::print("{:<34}{:>33}{:>38}\n", "", "alarms of A/A at loads 0.5, 0.8, 0.9",
             "runs of A/B, median (found): 50 us, 20 us");
  print_row("signs of pairs", by_evidence(sign_evidence), pairs);
  print_row("signs and sizes of pairs", by_evidence(size_evidence), pairs);
  print_row("ranks of all runs (chosen)", by_evidence(evidence), pairs);
  print_row("no allowance: diff after each run", by_fixed_test, pairs);
}

}  // namespace
}  // namespace sojourn::differential

int main(int argc, char** argv) {
  const long pairs = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 200;
  if (pairs < 2 || argc > 2) {
    fmt::print(stderr, "usage: sequential-power [PAIRS]\n");
    return 2;
  }
  sojourn::differential::print_all(static_cast<unsigned>(pairs));
  return 0;
}
