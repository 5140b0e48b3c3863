#include "analysis/differential/host_diff.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/differential/anderson_darling.h"
#include "analysis/differential/blocks.h"
#include "analysis/differential/comparison.h"
#include "analysis/differential/multiple_tests.h"

namespace sojourn::differential {

namespace {

using host::HostProfile;
using host::MachineFact;
using host::Measurement;
using host::SampleSummary;

using Profiles = std::span<const HostProfile>;

// One measurement over all profiles of a side.
struct Side {
  const Measurement* last = nullptr;
  std::vector<double> medians;
  bool is_stable = true;
};

Side side_of(Profiles profiles, std::string_view id) {
  Side side;
  for (const HostProfile& profile : profiles) {
    const Measurement* const found = profile.find(id);
    if (found == nullptr) continue;
    side.last = found;
    side.medians.push_back(found->measured.median);
    side.is_stable = side.is_stable && found->unstable.empty();
  }
  return side;
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return host::quantile_of_sorted(values, 0.5);
}

bool overlap(const SampleSummary& left, const SampleSummary& right) {
  return left.q1 <= right.q3 && right.q1 <= left.q3;
}

HostFinding judge_single(const Side& left, const Side& right) {
  if (!left.is_stable || !right.is_stable) return HostFinding::kUnstable;
  return overlap(left.last->measured, right.last->measured) ? HostFinding::kNone
                                                            : HostFinding::kApart;
}

void test_repeats(const Side& left, const Side& right, MeasurementDiff& one) {
  const std::array samples = {left.medians, right.medians};
  // Runs of which all have one value, such as a size that is always the same, are alike.
  if (const auto tested = anderson_darling(samples)) one.p = p_value(samples, *tested).midrank;
  const auto left_error = mean_error(left.medians);
  const auto right_error = mean_error(right.medians);
  if (left_error && right_error) one.half = half_interval_of_difference(*left_error, *right_error);
}

// Holm's adjustment over all tests. If so many tests of so few runs cannot show any difference,
// they say so.
void judge_repeats(HostDiff& diff, const std::vector<double>& least_ps) {
  std::vector<double> p_values;
  for (const MeasurementDiff& one : diff.measurements)
    if (one.p) p_values.push_back(*one.p);
  diff.tests = p_values.size();
  if (diff.tests == 0) return;
  diff.runs_needed = runs_needed(diff.tests, kHostLevel);
  const auto adjusted = holm(p_values);
  std::size_t next = 0;
  for (MeasurementDiff& one : diff.measurements) {
    if (!one.p) continue;
    const bool can_show = static_cast<double>(diff.tests) * least_ps[next] <= kHostLevel;
    one.adjusted_p = adjusted[next++];
    if (one.adjusted_p <= kHostLevel)
      one.finding = HostFinding::kChanged;
    else
      one.finding = can_show ? HostFinding::kNone : HostFinding::kTooLittle;
  }
}

void compare_facts(const HostProfile& left, const HostProfile& right, HostDiff& diff) {
  const auto value = [](const MachineFact* fact) { return fact == nullptr ? "" : fact->value; };
  for (const MachineFact& fact : left.facts) {
    const std::string other = value(right.fact(fact.id));
    if (other != fact.value) diff.facts.push_back({fact.id, fact.name, fact.value, other});
  }
  for (const MachineFact& fact : right.facts)
    if (left.fact(fact.id) == nullptr && !fact.value.empty())
      diff.facts.push_back({fact.id, fact.name, "", fact.value});
}

std::vector<std::string> measured_ids(Profiles left, Profiles right) {
  std::vector<std::string> ids;
  for (const Profiles side : {left, right})
    for (const HostProfile& profile : side)
      for (const Measurement& one : profile.measurements)
        if (one.is_measured() && std::ranges::find(ids, one.id) == ids.end()) ids.push_back(one.id);
  return ids;
}

}  // namespace

std::string_view name(HostFinding finding) {
  switch (finding) {
    case HostFinding::kNone:
      return "none";
    case HostFinding::kApart:
      return "apart";
    case HostFinding::kChanged:
      return "changed";
    case HostFinding::kTooLittle:
      return "too little data";
    case HostFinding::kUnstable:
      return "unstable";
    case HostFinding::kOnlyLeft:
      return "only left";
    case HostFinding::kOnlyRight:
      break;
  }
  return "only right";
}

HostDiff compare_hosts(Profiles left, Profiles right) {
  HostDiff diff = {.left_runs = left.size(), .right_runs = right.size()};
  if (left.empty() || right.empty()) return diff;
  compare_facts(left.front(), right.front(), diff);
  std::vector<double> least_ps;
  for (const std::string& id : measured_ids(left, right)) {
    const Side before = side_of(left, id);
    const Side after = side_of(right, id);
    const Measurement& any = before.last != nullptr ? *before.last : *after.last;
    MeasurementDiff one = {.id = id,
                           .name = any.name,
                           .unit = any.unit,
                           .is_less_better = any.is_less_better,
                           .half = std::nullopt,
                           .p = std::nullopt};
    if (!before.medians.empty()) one.left = median_of(before.medians);
    if (!after.medians.empty()) one.right = median_of(after.medians);
    if (before.medians.empty()) {
      one.finding = HostFinding::kOnlyRight;
    } else if (after.medians.empty()) {
      one.finding = HostFinding::kOnlyLeft;
    } else if (before.medians.size() > 1 && after.medians.size() > 1) {
      test_repeats(before, after, one);
      if (one.p) least_ps.push_back(smallest_p(before.medians.size(), after.medians.size(), false));
    } else {
      one.finding = judge_single(before, after);
    }
    diff.measurements.push_back(std::move(one));
  }
  judge_repeats(diff, least_ps);
  return diff;
}

nlohmann::ordered_json to_json(const HostDiff& diff) {
  auto facts = nlohmann::ordered_json::array();
  for (const FactDiff& fact : diff.facts)
    facts.push_back({{"id", fact.id}, {"left", fact.left}, {"right", fact.right}});
  auto measurements = nlohmann::ordered_json::array();
  for (const MeasurementDiff& one : diff.measurements) {
    nlohmann::ordered_json row = {{"id", one.id},
                                  {"name", one.name},
                                  {"unit", host::name(one.unit)},
                                  {"less_is_better", one.is_less_better},
                                  {"left", one.left},
                                  {"right", one.right},
                                  {"change", one.change()}};
    if (one.half) row["half_interval"] = *one.half;
    if (one.p) {
      row["p"] = *one.p;
      row["adjusted_p"] = one.adjusted_p;
    }
    row["difference"] = name(one.finding);
    measurements.push_back(std::move(row));
  }
  return {{"left_runs", diff.left_runs}, {"right_runs", diff.right_runs},
          {"tests", diff.tests},         {"runs_needed", diff.runs_needed},
          {"machine", std::move(facts)}, {"measurements", std::move(measurements)}};
}

}  // namespace sojourn::differential
