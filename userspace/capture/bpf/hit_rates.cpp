#include "userspace/capture/bpf/hit_rates.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <thread>
#include <utility>

#include "userspace/base/clock.h"
#include "userspace/capture/bpf/attach.h"
#include "userspace/capture/bpf/bpf_programs.h"
#include "userspace/capture/bpf/calibrate.h"
#include "userspace/capture/bpf/probe_keeper.h"
#include "userspace/capture/records/ring.h"
#include "userspace/tracee/point_selection.h"

namespace sojourn::capture {

namespace {

constexpr std::size_t kRateRingBytes = 64 * 1024;  // hits that find no room are counted as well
constexpr std::chrono::milliseconds kBetweenLooks(5);
// Costs are averaged over this: packets come in bursts, of which each function of their path has
// its hits at once.
constexpr std::chrono::milliseconds kAveraged(50);
// A function is too hot if it alone takes this part of what all together may take.
constexpr double kHotPart = 0.1;
constexpr std::size_t kMaxSeen = 1 << 18;

// A group of points that have probes at the same time.
class Batch {
 public:
  // `seen`: where hits are kept, if they are.
  Batch(const BpfPrograms& programs, ProbeKeeper& probes, std::vector<std::uint64_t> costs_ps,
        std::vector<SeenHit>* seen)
      : programs_(programs), probes_(probes), costs_ps_(std::move(costs_ps)), seen_(seen) {
    for (const Ring& ring : programs.rings()) readers_.emplace_back(ring);
    rates_.resize(costs_ps_.size());
    kept_.resize(costs_ps_.size());
    is_dropped_.resize(costs_ps_.size());
  }

  Result<void> run(const RateOptions& options, std::uint64_t open_ns) {
    const std::uint64_t least_ns = open_ns + nanoseconds(options.span);
    const std::uint64_t max_ns = std::max(least_ns, open_ns + nanoseconds(options.timeout));
    std::deque<Look> looks = {{.ts_ns = open_ns, .hits = std::vector<std::uint64_t>(kept_.size())}};
    while (looks.back().ts_ns < least_ns ||
           (looks.back().ts_ns < max_ns && !has_enough(options.enough))) {
      std::this_thread::sleep_for(kBetweenLooks);
      const std::uint64_t now_ns = base::monotonic_ns();
      SJ_TRY(hits, count());
      while (looks.size() > 1 && looks[1].ts_ns + nanoseconds(kAveraged) <= now_ns)
        looks.pop_front();
      const Look& before = looks.front();
      std::vector<double> costs_ns(rates_.size());
      double all_ns = 0;
      for (std::size_t id = 0; id < rates_.size(); ++id) {
        if (is_dropped_[id]) continue;
        costs_ns[id] = cost_ns(id, hits[id] - before.hits[id]);
        all_ns += costs_ns[id];
        rates_[id].hits = hits[id];
        rates_[id].span_ns = now_ns - open_ns;
      }
      const std::uint64_t span_ns = std::max(now_ns - before.ts_ns, nanoseconds(kAveraged));
      SJ_CHECK(drop(costs_ns, all_ns, options.max_share * static_cast<double>(span_ns)));
      looks.push_back({.ts_ns = now_ns, .hits = std::move(hits)});
    }
    for (std::size_t id = 0; id < rates_.size(); ++id)
      rates_[id].is_too_hot = is_dropped_[id] && cost_ns(id, rates_[id].hits) >
                                                     kHotPart * options.max_share *
                                                         static_cast<double>(rates_[id].span_ns);
    return {};
  }

  const std::vector<HitRate>& rates() const { return rates_; }

 private:
  // The hits of all points until an instant.
  struct Look {
    std::uint64_t ts_ns = 0;
    std::vector<std::uint64_t> hits;
  };

  static std::uint64_t nanoseconds(std::chrono::milliseconds span) {
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(span).count());
  }

  bool has_enough(std::uint64_t hits) const {
    for (std::size_t id = 0; id < rates_.size(); ++id)
      if (!is_dropped_[id] && rates_[id].hits < hits) return false;
    return true;
  }

  double cost_ns(std::size_t id, std::uint64_t hits) const {
    return static_cast<double>(hits) * static_cast<double>(costs_ps_[id]) / 1000;
  }

  // Returns all hits so far, by point: those in the rings, and those that the full rings lost.
  Result<std::vector<std::uint64_t>> count() {
    for (RingReader& reader : readers_)
      reader.consume(SIZE_MAX, [&](const sj_hit& hit, std::uint64_t) {
        if (hit.point >= kept_.size()) return;
        ++kept_[hit.point];
        if (seen_ != nullptr && seen_->size() < kMaxSeen)
          seen_->push_back(
              {.ts_ns = hit.ts_ns,
               .tid = hit.tid,
               .point = hit.point,
               .values = {hit.value, hit.value + std::min<std::size_t>(hit.args, SJ_MAX_ARGS)}});
      });
    SJ_TRY(lost, programs_.losses());
    std::vector<std::uint64_t> hits = kept_;
    for (const model::LedgerEntry& entry : lost)
      if (entry.point < hits.size()) hits[entry.point] += entry.count;
    return hits;
  }

  // Drops the most expensive points first, until the rest is cheap enough.
  Result<void> drop(std::vector<double>& costs_ns, double all_ns, double max_ns) {
    std::vector<model::PointId> hot;
    while (all_ns > max_ns) {
      const auto dearest = std::ranges::max_element(costs_ns);
      if (*dearest <= 0) break;
      all_ns -= std::exchange(*dearest, 0);
      const auto id = static_cast<std::size_t>(dearest - costs_ns.begin());
      is_dropped_[id] = true;
      hot.push_back(static_cast<model::PointId>(id));
    }
    return hot.empty() ? Result<void>() : probes_.remove(hot);
  }

  const BpfPrograms& programs_;
  ProbeKeeper& probes_;
  std::vector<std::uint64_t> costs_ps_;  // by point
  std::vector<SeenHit>* seen_;
  std::vector<RingReader> readers_;
  std::vector<std::uint64_t> kept_;
  std::vector<HitRate> rates_;
  std::vector<bool> is_dropped_;  // by point: its probe is off
};

Result<std::vector<HitRate>> measure(const tracee::Points& points, pid_t pid, const BpfCosts& costs,
                                     const RateOptions& options,
                                     std::vector<SeenHit>* seen = nullptr) {
  tracee::Points apart = points;  // in groups of their own, so that each can be detached
  for (tracee::Site& site : apart.sites) site.group = site.point;
  SJ_TRY(probes, ProbeKeeper::start({.pid = pid,
                                     .mechanism = Mechanism::kUprobeMulti,
                                     .ring_bytes = kRateRingBytes,
                                     .keep = {},
                                     .points = std::move(apart)}));
  BpfPrograms programs = probes.take_programs();
  SJ_CHECK(probes.arm());
  Batch batch(programs, probes, bpf_point_costs_ps(points, costs), seen);
  const std::uint64_t open_ns = base::monotonic_ns();
  programs.open_gate_at(open_ns);
  SJ_CHECK(batch.run(options, open_ns));
  return batch.rates();
}

// Measures costs for the points with most arguments and steps.
Result<BpfCosts> costs_of(const tracee::Points& points) {
  if (best_mechanism() != Mechanism::kUprobeMulti)
    return fail("this kernel has no uprobe_multi links, and other probes take too long to remove");
  CostNeeds needs;
  for (const tracee::Site& site : points.sites) needs.add(site);
  return calibrate_bpf(Mechanism::kUprobeMulti, needs);
}

}  // namespace

Result<std::vector<HitRate>> measure_hit_rates(const tracee::Points& points, pid_t pid,
                                               const RateOptions& options) {
  SJ_TRY(costs, costs_of(points));
  std::vector<HitRate> rates;
  const std::size_t all = points.schema.points.size();
  for (std::size_t first = 0; first < all; first += options.at_once) {
    std::vector<bool> wanted(all);
    for (std::size_t id = first; id < std::min(all, first + options.at_once); ++id)
      wanted[id] = true;
    SJ_TRY(some, measure(tracee::select(points, wanted), pid, costs, options));
    rates.insert(rates.end(), some.begin(), some.end());
  }
  return rates;
}

Result<void> watch_on(const tracee::Points& points, pid_t pid, std::chrono::milliseconds timeout,
                      std::vector<HitRate>& rates) {
  std::vector<bool> wanted(rates.size());
  for (std::size_t id = 0; id < rates.size(); ++id)
    wanted[id] = rates[id].hits == 0 && !rates[id].is_too_hot;
  if (std::ranges::none_of(wanted, std::identity())) return {};
  SJ_TRY(costs, costs_of(points));
  SJ_TRY(more, measure(tracee::select(points, wanted), pid, costs,
                       {.span = std::chrono::milliseconds(0), .timeout = timeout}));
  auto next = more.begin();
  for (std::size_t id = 0; id < rates.size(); ++id) {
    if (!wanted[id]) continue;
    rates[id].hits += next->hits;
    rates[id].span_ns += next->span_ns;
    rates[id].is_too_hot = next->is_too_hot;
    ++next;
  }
  return {};
}

Result<std::vector<SeenHit>> watch_hits(const tracee::Points& points, pid_t pid,
                                        const RateOptions& options) {
  SJ_TRY(costs, costs_of(points));
  std::vector<SeenHit> seen;
  SJ_TRY(rates, measure(points, pid, costs, options, &seen));
  (void)rates;
  return seen;
}

}  // namespace sojourn::capture
