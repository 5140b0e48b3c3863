#include "userspace/capture/budget.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/base/second.h"

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kWindowNs = kNsPerSecond;
constexpr std::uint64_t kMinWindowNs = 300'000'000;
constexpr std::uint64_t kCpuTickNs = 10'000'000;  // the resolution of a process's CPU time
constexpr std::uint64_t kFirstBackoffNs = kNsPerSecond;
constexpr std::uint64_t kMaxBackoffNs = 10 * kNsPerSecond;
constexpr std::uint64_t kTrialNs = 2 * kNsPerSecond;  // a return that lasts so long has succeeded
constexpr double kShedTo = 0.7;                       // of the budget
constexpr double kRestoreBelow = 0.5;

}  // namespace

Budget::Budget(const BudgetLimits& limits, const std::vector<BudgetPoint>& points)
    : limits_(limits), backoff_ns_(kFirstBackoffNs) {
  set_points(points);
}

void Budget::set_points(const std::vector<BudgetPoint>& points) {
  states_.resize(std::max(states_.size(), points.size()));
  for (std::size_t id = 0; id < points.size(); ++id) states_[id].point = points[id];
  for (Sample& sample : samples_) sample.hits.resize(states_.size());
}

void Budget::begin_anew(const Sample& sample) {
  samples_.assign(1, sample);
}

double Budget::allowed_ns(double cpu_ns) const {
  const double most = std::max(limits_.most, limits_.least);
  return std::clamp(limits_.share * cpu_ns, limits_.least * kNsPerSecond, most * kNsPerSecond);
}

std::vector<Budget::Group> Budget::groups(bool off) const {
  std::map<std::uint64_t, Group> by_number;
  for (std::size_t id = 0; id < states_.size(); ++id) {
    const State& state = states_[id];
    if (state.is_off != off || (!off && state.point.turn == ShedTurn::kNever)) continue;
    constexpr std::uint64_t kAlone = 1ULL << 32;
    Group& group = by_number[state.point.group != 0 ? state.point.group : kAlone + id];
    group.turn = state.point.turn;
    group.cost_ns += state.cost_ns;
    group.points.push_back(static_cast<model::PointId>(id));
  }
  std::vector<Group> all;
  for (auto& [number, group] : by_number) all.push_back(std::move(group));
  return all;
}

// Sheds the most expensive groups of the first turn, then those of paths, until the rest is well
// within the budget.
std::vector<model::PointId> Budget::shed(double cost_ns, double allowed_ns) {
  std::vector<Group> candidates = groups(false);
  std::erase_if(candidates, [](const Group& group) { return group.cost_ns <= 0; });
  std::ranges::stable_sort(candidates, [](const Group& left, const Group& right) {
    return left.turn != right.turn ? left.turn < right.turn : left.cost_ns > right.cost_ns;
  });
  std::vector<model::PointId> chosen;
  for (const Group& group : candidates) {
    if (cost_ns <= kShedTo * allowed_ns) break;
    cost_ns -= group.cost_ns;
    for (const model::PointId id : group.points) {
      states_[id].is_off = true;
      chosen.push_back(id);
    }
  }
  return chosen;
}

std::vector<model::PointId> Budget::restore() {
  std::vector<Group> off = groups(true);
  std::ranges::stable_sort(off, [](const Group& left, const Group& right) {
    return left.turn != right.turn ? left.turn > right.turn : left.cost_ns < right.cost_ns;
  });
  off.resize(std::min(off.size(), step_));
  std::vector<model::PointId> chosen;
  for (const Group& group : off)
    for (const model::PointId id : group.points) {
      states_[id].is_off = false;
      chosen.push_back(id);
    }
  return chosen;
}

bool Budget::is_whole() const {
  return std::ranges::none_of(states_, &State::is_off);
}

Budget::Decision Budget::look(std::uint64_t now_ns, std::span<const std::uint64_t> hits,
                              std::uint64_t cpu_ns) {
  Sample sample{.now_ns = now_ns, .cpu_ns = cpu_ns, .hits = {hits.begin(), hits.end()}};
  sample.hits.resize(states_.size());
  samples_.push_back(sample);
  while (samples_.size() > 2 && now_ns - samples_[1].now_ns >= kWindowNs) samples_.pop_front();
  const Sample& first = samples_.front();
  const std::uint64_t span_ns = now_ns - first.now_ns;
  if (span_ns < kMinWindowNs) return {};

  // All costs are in nanoseconds a second.
  const double seconds = static_cast<double>(span_ns) / kNsPerSecond;
  const std::uint64_t cpu_spent_ns = std::max(cpu_ns, first.cpu_ns) - first.cpu_ns;
  const double cpu = static_cast<double>(std::max(cpu_spent_ns, kCpuTickNs)) / seconds;
  double cost = 0;
  for (std::size_t id = 0; id < states_.size(); ++id) {
    State& state = states_[id];
    if (state.is_off) continue;
    const std::uint64_t count = std::max(sample.hits[id], first.hits[id]) - first.hits[id];
    state.cost_ns =
        static_cast<double>(count) * static_cast<double>(state.point.hit_ps) / 1e3 / seconds;
    cost += state.cost_ns;
  }

  const double allowed = allowed_ns(cpu);
  Decision decision{.share = cost / cpu, .allowed = allowed / cpu, .shed = {}, .restored = {}};
  if (cost > allowed) {
    decision.shed = shed(cost, allowed);
    if (decision.shed.empty()) return decision;  // only points that are never shed are on
    if (last_trial_ns_ != 0 && now_ns - last_trial_ns_ < kTrialNs)
      backoff_ns_ = std::min(2 * backoff_ns_, kMaxBackoffNs);
    else
      backoff_ns_ = kFirstBackoffNs;
    step_ = 1;
    next_trial_ns_ = now_ns + backoff_ns_;
    begin_anew(sample);
  } else if (cost < kRestoreBelow * allowed && now_ns >= next_trial_ns_) {
    decision.restored = restore();
    if (decision.restored.empty()) return decision;
    step_ *= 2;
    last_trial_ns_ = now_ns;
    begin_anew(sample);
  }
  return decision;
}

}  // namespace sojourn::capture
