#include "analysis/host/host_diff.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace sojourn::host {

namespace {

constexpr std::size_t kMostValues = 24;

// One measurement over all profiles of a side.
struct Side {
  const Measurement* last = nullptr;
  std::vector<double> medians;
  bool is_stable = true;
};

Side side_of(std::span<const HostProfile> profiles, std::string_view id) {
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
  return quantile_of_sorted(values, 0.5);
}

bool overlap(const SampleSummary& left, const SampleSummary& right) {
  return left.q1 <= right.q3 && right.q1 <= left.q3;
}

Difference judge(const Side& left, const Side& right, double p) {
  if (left.medians.size() > 1 && right.medians.size() > 1)
    return p < kSignificant ? Difference::kChanged : Difference::kNone;
  if (!left.is_stable || !right.is_stable) return Difference::kUnstable;
  return overlap(left.last->measured, right.last->measured) ? Difference::kNone
                                                            : Difference::kApart;
}

// How many pairs have the left one above; an equal pair counts half. Doubled, so that it is whole.
std::uint64_t pairs_above(std::span<const double> values, std::uint32_t is_left) {
  std::uint64_t twice = 0;
  for (std::size_t a = 0; a < values.size(); ++a) {
    if ((is_left >> a & 1U) == 0) continue;
    for (std::size_t b = 0; b < values.size(); ++b) {
      if ((is_left >> b & 1U) != 0) continue;
      twice += values[a] > values[b] ? 2 : values[a] == values[b] ? 1 : 0;
    }
  }
  return twice;
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

}  // namespace

std::string_view name(Difference difference) {
  switch (difference) {
    case Difference::kNone:
      return "none";
    case Difference::kApart:
      return "apart";
    case Difference::kChanged:
      return "changed";
    case Difference::kUnstable:
      return "unstable";
    case Difference::kOnlyLeft:
      return "only left";
    case Difference::kOnlyRight:
      break;
  }
  return "only right";
}

double rank_p(std::span<const double> left, std::span<const double> right) {
  const std::size_t count = left.size() + right.size();
  if (left.empty() || right.empty() || count > kMostValues) return 1;
  std::vector<double> values(left.begin(), left.end());
  values.insert(values.end(), right.begin(), right.end());
  const auto middle = static_cast<std::int64_t>(left.size() * right.size());
  const auto distance = [&](std::uint32_t is_left) {
    return std::abs(static_cast<std::int64_t>(pairs_above(values, is_left)) - middle);
  };
  const std::int64_t found = distance((1U << left.size()) - 1);
  std::uint64_t as_far = 0;
  std::uint64_t all = 0;
  for (std::uint32_t deal = 0; deal < 1U << count; ++deal) {
    if (static_cast<std::size_t>(std::popcount(deal)) != left.size()) continue;
    ++all;
    if (distance(deal) >= found) ++as_far;
  }
  return static_cast<double>(as_far) / static_cast<double>(all);
}

HostDiff compare(std::span<const HostProfile> left, std::span<const HostProfile> right) {
  HostDiff diff{
      .left_runs = left.size(), .right_runs = right.size(), .facts = {}, .measurements = {}};
  if (left.empty() || right.empty()) return diff;
  compare_facts(left.front(), right.front(), diff);
  std::vector<std::string> ids;
  for (const auto side : {left, right})
    for (const HostProfile& profile : side)
      for (const Measurement& one : profile.measurements)
        if (one.is_measured() && std::ranges::find(ids, one.id) == ids.end()) ids.push_back(one.id);
  for (const std::string& id : ids) {
    const Side before = side_of(left, id);
    const Side after = side_of(right, id);
    const Measurement& any = before.last != nullptr ? *before.last : *after.last;
    MeasurementDiff one{
        .id = id, .name = any.name, .unit = any.unit, .is_less_better = any.is_less_better};
    if (!before.medians.empty()) one.left = median_of(before.medians);
    if (!after.medians.empty()) one.right = median_of(after.medians);
    if (before.last == nullptr) {
      one.difference = Difference::kOnlyRight;
    } else if (after.last == nullptr) {
      one.difference = Difference::kOnlyLeft;
    } else {
      if (before.medians.size() > 1 && after.medians.size() > 1)
        one.p = rank_p(before.medians, after.medians);
      one.difference = judge(before, after, one.p);
    }
    diff.measurements.push_back(std::move(one));
  }
  return diff;
}

nlohmann::ordered_json to_json(const HostDiff& diff) {
  auto facts = nlohmann::ordered_json::array();
  for (const FactDiff& fact : diff.facts)
    facts.push_back({{"id", fact.id}, {"left", fact.left}, {"right", fact.right}});
  auto measurements = nlohmann::ordered_json::array();
  for (const MeasurementDiff& one : diff.measurements)
    measurements.push_back({{"id", one.id},
                            {"name", one.name},
                            {"unit", name(one.unit)},
                            {"less_is_better", one.is_less_better},
                            {"left", one.left},
                            {"right", one.right},
                            {"change", one.change()},
                            {"p", one.p},
                            {"difference", name(one.difference)}});
  return {{"left_runs", diff.left_runs},
          {"right_runs", diff.right_runs},
          {"machine", std::move(facts)},
          {"measurements", std::move(measurements)}};
}

}  // namespace sojourn::host
