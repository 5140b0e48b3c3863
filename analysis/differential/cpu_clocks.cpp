#include "analysis/differential/cpu_clocks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "analysis/differential/sighting_search.h"
#include "analysis/journeys/topology.h"

namespace sojourn::differential {
namespace {

constexpr double kOpen = std::numeric_limits<double>::infinity();
// Stamps are whole nanoseconds: a contradiction of less is rounding.
constexpr double kRoundingNs = 1;

// The CPUs that streams are bound to, ascending, and each stream's index among them.
struct CpuStreams {
  std::vector<std::int32_t> cpus;
  std::map<std::uint32_t, std::size_t> cpu_of;

  explicit CpuStreams(const trace::Reader& reader) {
    std::set<std::int32_t> found;
    for (const model::Stream& stream : reader.streams())
      if (stream.cpu >= 0) found.insert(stream.cpu);
    cpus.assign(found.begin(), found.end());
    for (const model::Stream& stream : reader.streams())
      if (stream.cpu >= 0)
        cpu_of[stream.id] =
            static_cast<std::size_t>(std::ranges::lower_bound(cpus, stream.cpu) - cpus.begin());
  }
};

Result<std::vector<CpuHop>> hops_of(trace::Reader& reader, const journeys::Rules& rules,
                                    const CpuStreams& streams) {
  SJ_TRY(topology, journeys::Topology::derive(reader.schema(), rules));
  SightingSearch search(reader.schema(), topology);
  std::uint64_t events = 0;
  SJ_CHECK(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const model::EventView event = batch[row];
      const auto cpu = streams.cpu_of.find(event.stream);
      if (cpu == streams.cpu_of.end()) continue;
      search.add(cpu->second, event.point, event.ts_ns, event.values);
      ++events;
    }
    return events < CpuClocks::kMostEvents;
  }));
  std::vector<CpuHop> hops;
  for (const SightingSearch::Found& each : search.found()) {
    const auto took = static_cast<double>(static_cast<std::int64_t>(each.came_ns - each.sent_ns));
    if (std::abs(took) <= CpuClocks::kFurthestNs)
      hops.push_back({.from = each.from, .to = each.to, .took_ns = took});
  }
  return hops;
}

}  // namespace

bool CpuClock::is_bounded() const {
  return std::isfinite(ahead_ns.low) && std::isfinite(ahead_ns.high);
}

double CpuClock::error_ns() const {
  return is_apart() ? ahead_ns.half() : std::max(-ahead_ns.low, ahead_ns.high);
}

// If a hop took d by two clocks, the receiver's clock is ahead of the sender's by d at most. So the
// bound between any two clocks is the shortest path between them.
Result<std::vector<Bounds>> bounds_of_offsets(std::size_t cpus, std::span<const CpuHop> hops) {
  std::vector<std::vector<double>> most(cpus, std::vector<double>(cpus, kOpen));
  for (std::size_t cpu = 0; cpu < cpus; ++cpu) most[cpu][cpu] = 0;
  for (const CpuHop& hop : hops)
    most[hop.from][hop.to] = std::min(most[hop.from][hop.to], hop.took_ns);
  for (std::size_t by = 0; by < cpus; ++by)
    for (std::size_t from = 0; from < cpus; ++from)
      for (std::size_t to = 0; to < cpus; ++to)
        most[from][to] = std::min(most[from][to], most[from][by] + most[by][to]);
  for (std::size_t cpu = 0; cpu < cpus; ++cpu)
    if (most[cpu][cpu] < -kRoundingNs)
      return fail(
          "packets between its CPUs contradict each other by {:.0f} ns: no offsets of clocks "
          "explain them",
          -most[cpu][cpu]);
  std::vector<Bounds> bounds;
  for (std::size_t cpu = 0; cpu < cpus; ++cpu)
    bounds.push_back({.low = -most[cpu][0], .high = most[0][cpu]});
  return bounds;
}

Result<CpuClocks> CpuClocks::find(trace::Reader& reader, const journeys::Rules& rules) {
  const CpuStreams streams(reader);
  if (streams.cpus.size() < 2)
    return fail(
        "{}: its events do not name their CPUs. A recording by rings has a stream for each thread, "
        "and its stamps were corrected while it was recorded",
        reader.path());
  SJ_TRY(hops, hops_of(reader, rules, streams));
  auto bounds = bounds_of_offsets(streams.cpus.size(), hops);
  if (!bounds) return fail("{}: {}", reader.path(), bounds.error().text());
  CpuClocks found;
  for (std::size_t cpu = 0; cpu < streams.cpus.size(); ++cpu)
    found.clocks_.push_back({.cpu = streams.cpus[cpu], .ahead_ns = (*bounds)[cpu]});
  for (const CpuHop& hop : hops) {
    ++found.clocks_[hop.from].sent;
    ++found.clocks_[hop.to].received;
  }
  for (const auto& [stream, cpu] : streams.cpu_of)
    if (const double ahead = found.clocks_[cpu].correction_ns(); ahead != 0)
      found.ahead_ns_[stream] = std::llround(ahead);
  return found;
}

double CpuClocks::widest_error_ns() const {
  double widest = 0;
  for (const CpuClock& clock : clocks_)
    if (clock.is_bounded()) widest = std::max(widest, clock.error_ns());
  return widest;
}

}  // namespace sojourn::differential
