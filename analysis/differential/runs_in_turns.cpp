#include "analysis/differential/runs_in_turns.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "analysis/differential/blocks.h"

namespace sojourn::differential {

std::optional<Shift> RunsInTurns::Row::shift() const {
  std::vector<double> means[2];
  for (const Turn& turn : turns) means[turn.is_new ? 1 : 0].push_back(turn.value);
  if (means[0].empty() || means[1].empty()) return std::nullopt;
  return Shift{.share = kMean,
               .base = mean(std::span<const double>(means[0])),
               .now = mean(std::span<const double>(means[1])),
               .half = std::nullopt};
}

RunsInTurns::Row& RunsInTurns::row_of(char direction, const std::string& name, bool is_latency) {
  const auto found = std::ranges::find_if(rows_, [&](const Row& row) {
    return row.direction == direction && row.name == name && row.is_latency == is_latency;
  });
  if (found != rows_.end()) return *found;
  return rows_.emplace_back(Row{.direction = direction, .name = name, .is_latency = is_latency});
}

void RunsInTurns::add(const RunFigures& run, bool is_new) {
  ++runs_;
  const auto take = [&](char direction, const std::string& name, bool is_latency,
                        const std::vector<float>& values) {
    double sum = 0;
    double count = 0;
    for (const float value : values) {
      if (std::isnan(value)) continue;
      sum += static_cast<double>(value);
      count += 1;
    }
    if (count == 0) return;
    Row& row = row_of(direction, name, is_latency);
    row.turns.push_back({.value = sum / count, .is_new = is_new});
    row.resolution_ns =
        std::max(row.resolution_ns, time_error_ns(run, direction, name, is_latency));
  };
  constexpr std::string_view kDirections = "DU";
  for (std::size_t direction = 0; direction < kDirections.size(); ++direction) {
    const RunOfPackets& packets = run.packets[direction];
    take(kDirections[direction], "latency", true, packets.latency_ns);
    for (const auto& [place, stays] : packets.stays_ns)
      take(kDirections[direction], place, false, stays);
  }
  std::vector<double> all;
  all.reserve(rows_.size());
  for (Row& row : rows_) all.push_back(row.evidence = evidence(row.turns));
  const auto adjusted = adjusted_evidence(all);
  for (std::size_t at = 0; at < rows_.size(); ++at)
    rows_[at].adjusted_p = 1 / std::max(adjusted[at], 1.0);
}

const RunsInTurns::Row* RunsInTurns::surest() const {
  const auto found = std::ranges::max_element(rows_, {}, &Row::evidence);
  return found == rows_.end() ? nullptr : &*found;
}

bool RunsInTurns::is_resolved(const Row& row) {
  const auto shift = row.shift();
  return shift && std::abs(shift->by()) > row.resolution_ns;
}

bool RunsInTurns::is_certain(double level) const {
  return std::ranges::any_of(
      rows_, [&](const Row& row) { return row.adjusted_p <= level && is_resolved(row); });
}

void RunsInTurns::judge(std::span<Comparison> all, double level) const {
  for (Comparison& each : all) {
    const auto row = std::ranges::find_if(rows_, [&](const Row& one) {
      return one.direction == each.direction && one.name == each.name &&
             one.is_latency == each.is_latency;
    });
    if (row == rows_.end() || each.base_units == 0 || each.now_units == 0) continue;
    each.p = 1 / std::max(row->evidence, 1.0);
    each.adjusted_p = row->adjusted_p;
    const double most = most_evidence(each.base_units, each.now_units);
    if (each.adjusted_p <= level)
      each.verdict = Verdict::kChanged;
    else
      each.verdict =
          most * level >= static_cast<double>(rows_.size()) ? Verdict::kSame : Verdict::kTooLittle;
  }
}

}  // namespace sojourn::differential
