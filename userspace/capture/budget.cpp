#include "userspace/capture/budget.h"

#include <algorithm>
#include <utility>

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kWindowNs = kSecond;
constexpr std::uint64_t kMinWindowNs = 300'000'000;
constexpr std::uint64_t kCpuTickNs = 10'000'000;  // how exactly a process's CPU time is known
constexpr std::uint64_t kFirstBackoffNs = kSecond;
constexpr std::uint64_t kMaxBackoffNs = 10 * kSecond;
constexpr std::uint64_t kTrialNs = 2 * kSecond;  // a return that lasts so long has succeeded
constexpr double kShedTo = 0.7;                  // of the budget
constexpr double kRestoreBelow = 0.5;

}  // namespace

Budget::Budget(double share, const std::vector<BudgetPoint>& points)
    : share_(share), backoff_ns_(kFirstBackoffNs) {
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

// The most expensive ones, until the rest is well within the budget.
std::vector<model::PointId> Budget::shed(double cost_ns, double cpu_ns) {
  std::vector<model::PointId> candidates;
  for (std::size_t id = 0; id < states_.size(); ++id) {
    const State& state = states_[id];
    if (!state.is_off && state.point.may_shed && state.cost_ns > 0)
      candidates.push_back(static_cast<model::PointId>(id));
  }
  std::ranges::stable_sort(candidates, std::greater{},
                           [&](auto id) { return states_[id].cost_ns; });
  std::vector<model::PointId> chosen;
  for (const model::PointId id : candidates) {
    if (cost_ns <= kShedTo * share_ * cpu_ns) break;
    cost_ns -= states_[id].cost_ns;
    states_[id].is_off = true;
    chosen.push_back(id);
  }
  return chosen;
}

std::vector<model::PointId> Budget::restore() {
  std::vector<model::PointId> off;
  for (std::size_t id = 0; id < states_.size(); ++id)
    if (states_[id].is_off) off.push_back(static_cast<model::PointId>(id));
  std::ranges::stable_sort(off, {}, [&](auto id) { return states_[id].cost_ns; });
  off.resize(std::min(off.size(), step_));
  for (const model::PointId id : off) states_[id].is_off = false;
  return off;
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

  // All in nanoseconds a second.
  const double seconds = static_cast<double>(span_ns) / kSecond;
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

  Decision decision{.share = cost / cpu, .shed = {}, .restored = {}};
  if (decision.share > share_) {
    decision.shed = shed(cost, cpu);
    if (decision.shed.empty()) return decision;  // only what is never shed is on
    if (last_trial_ns_ != 0 && now_ns - last_trial_ns_ < kTrialNs)
      backoff_ns_ = std::min(2 * backoff_ns_, kMaxBackoffNs);
    else
      backoff_ns_ = kFirstBackoffNs;
    step_ = 1;
    next_trial_ns_ = now_ns + backoff_ns_;
    begin_anew(sample);
  } else if (decision.share < kRestoreBelow * share_ && now_ns >= next_trial_ns_) {
    decision.restored = restore();
    if (decision.restored.empty()) return decision;
    step_ *= 2;
    last_trial_ns_ = now_ns;
    begin_anew(sample);
  }
  return decision;
}

}  // namespace sojourn::capture
