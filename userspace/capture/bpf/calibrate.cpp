#include "userspace/capture/bpf/calibrate.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <tuple>
#include <utility>

#include <sched.h>

#include "userspace/base/clock.h"
#include "userspace/base/forked_child.h"
#include "userspace/base/privileged_helper.h"
#include "userspace/capture/bpf/arg_span.h"
#include "userspace/capture/bpf/attach.h"
#include "userspace/capture/bpf/cost_of_runs.h"
#include "userspace/capture/bpf/trial_sites.h"
#include "userspace/capture/records/ring.h"
#include "userspace/capture/records/ring_clock.h"

namespace sojourn::capture {

namespace {

// Runs of some microseconds: where the target's real-time threads own the CPU, they take it away
// every few tens of microseconds, and a longer run would hardly ever pass undisturbed.
constexpr std::uint64_t kHitsOfRun = 4;
constexpr std::size_t kRuns = 448;
constexpr std::size_t kRunsBetweenEmptying = 32;
constexpr std::uint64_t kStampedHits = 512;
constexpr std::size_t kRingBytes = 256 * 1024;  // all hits of a run, with room to spare
// The time limit of work that takes some ten milliseconds. A longer wait would delay the capture,
// and a machine that busy yields no reliable costs.
constexpr std::chrono::seconds kPatience(10);

// Pins the thread, as a migration in the middle would be part of the measured time.
void stay_on_this_cpu() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  const int cpu = sched_getcpu();
  if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(cpu, &cpus);
  sched_setaffinity(0, sizeof(cpus), &cpus);
}

// The shortest time between two readings of a clock. Half of it lies behind the first reading.
std::uint64_t between_readings_ns(std::uint64_t (*read)()) {
  std::uint64_t shortest = UINT64_MAX;
  for (int tries = 0; tries < 100; ++tries) {
    const std::uint64_t before = read();
    shortest = std::min(shortest, read() - before);
  }
  return shortest;
}

// The measurements, as the child passes them on.
struct Measured {
  std::array<std::uint64_t, 3> ps;  // without arguments, with half of them, with all
  std::uint64_t memory_ps;          // with all arguments, one of them in memory
  std::uint64_t stamp_delay_ns;
  std::uint64_t stamp_spread_ns;
  std::uint64_t stepped_ps;   // of a single-stepped hit without arguments
  std::uint64_t returned_ps;  // of a uretprobe's without arguments
  double spread;              // the largest of all of these, as a share
};

class Bench {
 public:
  explicit Bench(const BpfPrograms& programs) {
    for (const Ring& ring : programs.rings()) readers_.emplace_back(ring);
  }

  void empty_rings() {
    for (RingReader& reader : readers_) reader.consume(SIZE_MAX, [](const sj_hit&, auto) {});
  }

  // Runs the sites in turn, so that a disturbance that lasts disturbs all of them.
  std::vector<std::uint64_t> costs_ps(std::span<const TrialSite> sites) {
    std::vector<std::array<std::uint64_t, kRuns>> runs(sites.size());
    for (const TrialSite& site : sites) run_ps(site);  // the first hits are slower
    for (std::size_t run = 0; run < kRuns; ++run) {
      if (run % kRunsBetweenEmptying == 0) empty_rings();
      for (std::size_t site = 0; site < sites.size(); ++site) runs[site][run] = run_ps(sites[site]);
    }
    std::vector<std::uint64_t> costs;
    for (auto& of_site : runs) {
      const CostOfRuns cost = cost_of_runs(of_site);
      spread_ = std::max(spread_, cost.spread);
      costs.push_back(cost.ps);
    }
    return costs;
  }

  double spread() const { return spread_; }

  // Delays from reading the clock right before the site to the stamp, of many hits.
  Result<std::pair<std::uint64_t, std::uint64_t>> stamp_delay(const TrialSite& site) {
    std::vector<std::uint64_t> reached;
    std::vector<std::uint64_t> delays;
    const std::uint64_t behind_reading = between_readings_ns(base::monotonic_ns) / 2;
    empty_rings();
    for (std::uint64_t hit = 0; hit < kStampedHits; ++hit) {
      reached.push_back(base::monotonic_ns() + behind_reading);
      site.run(1);
    }
    for (RingReader& reader : readers_)
      reader.consume(SIZE_MAX, [&](const sj_hit& hit, std::uint64_t) {
        const std::size_t index = delays.size();
        if (index == reached.size()) return;
        const std::uint64_t stamp = hit.ts_ns;
        delays.push_back(stamp - std::min(stamp, reached[index]));
      });
    if (delays.size() != reached.size())
      return fail("{} of {} hits were seen", delays.size(), reached.size());
    std::ranges::sort(delays);
    const std::uint64_t least = delays.front();
    return std::pair(least, delays[delays.size() * 99 / 100] - least);
  }

 private:
  std::uint64_t run_ps(const TrialSite& site) {
    const std::uint64_t before = base::monotonic_ns();
    site.run(kHitsOfRun);
    const std::uint64_t took = base::monotonic_ns() - before;
    return (took - std::min(took, clock_ns_)) * 1000 / kHitsOfRun;
  }

  std::vector<RingReader> readers_;
  std::uint64_t clock_ns_ = between_readings_ns(base::monotonic_ns);
  double spread_ = 0;
};

Result<Measured> measure(Mechanism mechanism, const CostNeeds& needs) {
  stay_on_this_cpu();
  const auto sites = plain_sites();
  const std::vector<sj_arg> all(needs.args, register_argument());
  const std::vector<sj_arg> half(needs.args / 2, register_argument());
  std::vector<sj_arg> one_in_memory = all;
  one_in_memory.front() = memory_argument();
  std::vector<Trial> trials = {Trial{sites[0].site, {}}, Trial{sites[1].site, half},
                               Trial{sites[2].site, all}, Trial{sites[3].site, one_in_memory}};
  if (needs.steps) trials.push_back({stepped_site().site, {}});
  if (needs.returns) trials.push_back({returning_site().site, {}, true});
  SJ_TRY(points, trial_points(trials));
  SJ_TRY(programs, BpfPrograms::load(points, getpid(), mechanism, kRingBytes));
  SJ_TRY(attachment, Attachment::attach(points, getpid(), mechanism, programs));
  (void)attachment;
  programs.open_gate_at(0);

  std::vector<TrialSite> run = {sites[0], sites[1], sites[2], sites[3]};
  if (needs.steps) run.push_back(stepped_site());
  if (needs.returns) run.push_back(returning_site());
  Bench bench(programs);
  const std::vector<std::uint64_t> costs = bench.costs_ps(run);
  Measured measured{};
  std::ranges::copy_n(costs.begin(), 3, measured.ps.begin());
  measured.memory_ps = costs[3];
  if (needs.steps) measured.stepped_ps = costs[4];
  if (needs.returns) measured.returned_ps = costs.back();
  SJ_TRY(stamp, bench.stamp_delay(sites[1]));
  std::tie(measured.stamp_delay_ns, measured.stamp_spread_ns) = stamp;
  measured.spread = bench.spread();
  return measured;
}

}  // namespace

std::uint64_t HitCost::ps(std::size_t args, std::size_t memory_args) const {
  if (measured_.empty()) return 0;
  const std::uint64_t memory = memory_argument_ps_ * memory_args;
  auto above = std::ranges::find_if(measured_, [&](const At& at) { return at.args >= args; });
  if (above == measured_.begin()) return above->ps + memory;
  if (above == measured_.end()) --above;
  if (above == measured_.begin()) return above->ps + memory;
  const At& low = *std::prev(above);
  const double slope = (static_cast<double>(above->ps) - static_cast<double>(low.ps)) /
                       static_cast<double>(above->args - low.args);
  const double at = static_cast<double>(low.ps) + slope * static_cast<double>(args - low.args);
  return static_cast<std::uint64_t>(std::max(at, 0.0)) + memory;
}

namespace {

Result<Measured> measure_apart(Mechanism mechanism, const CostNeeds& needs) {
  if (const auto* const helper = base::PrivilegedHelper::of_this_process()) {
    base::Packer wanted;
    wanted.put(mechanism).put(needs.args).put(needs.steps).put(needs.returns);
    SJ_TRY(answer, helper->ask(base::PrivilegedRequest::kCosts, std::move(wanted)));
    return base::Unpacker(answer.bytes).take<Measured>();
  }
  return base::run_in_child<Measured>([&] { return measure(mechanism, needs); }, kPatience);
}

}  // namespace

Result<base::Answer> measure_for(base::Unpacker& wanted) {
  const auto mechanism = wanted.take<Mechanism>();
  const CostNeeds needs{.args = wanted.take<std::uint32_t>(),
                        .steps = wanted.take<bool>(),
                        .returns = wanted.take<bool>()};
  if (!wanted.is_sound() || needs.args == 0 || needs.args > SJ_MAX_ARGS)
    return fail("nothing to measure");
  SJ_TRY(measured,
         base::run_in_child<Measured>([&] { return measure(mechanism, needs); }, kPatience));
  return base::Answer{.kind = 0, .bytes = base::Packer().put(measured).take(), .fds = {}};
}

void CostNeeds::add(const tracee::Site& site) {
  args = std::max(args, static_cast<std::uint32_t>(site.args.size()));
  steps = steps || site.is_stepped;
  returns = returns || site.is_return;
}

Result<BpfCosts> calibrate_bpf(Mechanism mechanism, const CostNeeds& needs) {
  const std::uint32_t args = std::clamp<std::uint32_t>(needs.args, 2, SJ_MAX_ARGS);
  CostNeeds measurable = needs;
  measurable.args = args;
  auto measured = measure_apart(mechanism, measurable);
  if (!measured)
    return std::unexpected(std::move(measured).error().within("measure what a hit costs"));
  std::vector<HitCost::At> costs = {
      {0, measured->ps[0]}, {args / 2, measured->ps[1]}, {args, measured->ps[2]}};
  // More arguments never cost less: a measurement that says so is noise.
  for (std::size_t at = 1; at < costs.size(); ++at)
    costs[at].ps = std::max(costs[at].ps, costs[at - 1].ps);
  const std::uint64_t memory = std::max(measured->memory_ps, costs.back().ps) - costs.back().ps;
  return BpfCosts{.hit = HitCost(std::move(costs), memory, measured->spread),
                  .stamp_delay_ns = measured->stamp_delay_ns,
                  .stamp_spread_ns = measured->stamp_spread_ns,
                  .stepped_ps = std::max(measured->stepped_ps, measured->ps[0]) - measured->ps[0],
                  .return_ps = std::max(measured->returned_ps, measured->ps[0]) - measured->ps[0]};
}

HitCost calibrate_ring() {
  constexpr std::uint64_t kReads = 1000;
  constexpr std::size_t kReadRuns = 56;
  std::array<std::uint64_t, kReadRuns> runs{};
  for (std::uint64_t& run : runs) {
    const std::uint64_t before = base::monotonic_ns();
    for (std::uint64_t read = 0; read < kReads; ++read) read_cycle_counter();
    run = (base::monotonic_ns() - before) * 1000 / kReads;
  }
  const auto [counter, spread] = cost_of_runs(runs);
  return {{{.args = 1, .ps = counter * 124 / 100},
           {.args = 5, .ps = counter * 130 / 100},
           {.args = 10, .ps = counter * 150 / 100}},
          0,
          spread};
}

namespace {

// The reads of a site's arguments from memory: one for each pointer on the way to an argument, and
// one for all arguments that lie side by side.
std::size_t memory_reads(const tracee::Site& site) {
  std::vector<sj_arg> args = site.args;
  std::int64_t reads = join_span(args).bytes != 0 ? 1 : 0;
  reads += std::ranges::count(args, SJ_ARG_MEMORY, &sj_arg::kind);
  for (const sj_chain& chain : site.chains)
    reads += std::ranges::count_if(chain.step, [](const sj_step& step) { return step.bytes != 0; });
  return static_cast<std::size_t>(reads);
}

}  // namespace

std::uint64_t bpf_site_cost_ps(const tracee::Site& site, const BpfCosts& costs) {
  return costs.hit.ps(site.args.size(), memory_reads(site)) +
         (site.is_return ? costs.return_ps : 0) + (site.is_stepped ? costs.stepped_ps : 0);
}

std::vector<std::uint64_t> bpf_point_costs_ps(const tracee::Points& points, const BpfCosts& costs) {
  std::vector<std::uint64_t> by_point(points.schema.points.size());
  for (const tracee::Site& site : points.sites)
    by_point[site.point] = std::max(by_point[site.point], bpf_site_cost_ps(site, costs));
  return by_point;
}

std::vector<std::uint64_t> ring_point_costs_ps(const model::Schema& schema, const HitCost& cost) {
  std::vector<std::uint64_t> costs;
  costs.reserve(schema.points.size());
  for (const model::Point& point : schema.points) costs.push_back(cost.ps(point.fields.size()));
  return costs;
}

}  // namespace sojourn::capture
