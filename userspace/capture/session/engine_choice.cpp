#include "userspace/capture/session/engine_choice.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "userspace/tracee/host.h"
#include "userspace/tracee/points.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

using PointSet = std::vector<bool>;

bool is_wanted(const tracee::Site&) {
  return true;
}
bool is_wanted(const tracee::RingSite& site) {
  return site.is_wanted;
}

template <typename Site>
PointSet points_of(const std::vector<Site>& sites, std::size_t points) {
  PointSet found(points);
  for (const Site& site : sites)
    if (is_wanted(site)) found[site.point] = true;
  return found;
}

// The points of the process; the schema may have points of others as well.
PointSet own_points(const tracee::Points& points) {
  PointSet own = points_of(points.sites, points.schema.points.size());
  const PointSet by_rings = points_of(points.ring_sites, own.size());
  for (std::size_t point = 0; point < own.size(); ++point)
    own[point] = own[point] || by_rings[point];
  return own;
}

std::size_t count(const PointSet& points) {
  return static_cast<std::size_t>(std::ranges::count(points, true));
}

Result<std::unique_ptr<BpfEngine>> make_bpf(const tracee::Process& process, tracee::Points points,
                                            const BpfOptions& options) {
  if (points.sites.empty())
    return fail("process {} has no points for eBPF: it was built with SJ_NO_USDT", process.title());
  return BpfEngine::create(process, std::move(points), options);
}

// Makes a RingEngine; null if another engine records these rings already.
Result<std::unique_ptr<RingEngine>> make_rings(const tracee::Process& process,
                                               const tracee::Points& points,
                                               const EngineOptions& options) {
  if (options.rings_are_shared) return std::unique_ptr<RingEngine>();
  return RingEngine::create(process, points, options.rings);
}

Result<Engines> only_bpf(const tracee::Process& process, const tracee::Points& points,
                         const EngineOptions& options) {
  SJ_TRY(bpf, make_bpf(process, points, options.bpf));
  Engines engines;
  engines.bpf_points = count(points_of(points.sites, points.schema.points.size()));
  engines.uncovered_points = count(own_points(points)) - engines.bpf_points;
  if (engines.uncovered_points != 0) engines.why_not_bpf = "they were built with SJ_NO_USDT";
  engines.bpf = std::move(bpf);
  return engines;
}

Result<Engines> only_rings(const tracee::Process& process, const tracee::Points& points,
                           const EngineOptions& options) {
  const PointSet covered = points_of(points.ring_sites, points.schema.points.size());
  const PointSet own = own_points(points);
  for (std::size_t index = 0; index < own.size(); ++index) {
    if (covered[index] || !own[index]) continue;
    return fail("{} writes no ring: it was built without the probe library",
                tracee::printable(points.schema.points[index].name()));
  }
  auto rings = make_rings(process, points, options);
  if (!rings) return std::unexpected(process.explain(std::move(rings).error()));
  Engines engines;
  engines.is_by_unsteady_counter = !tracee::has_steady_counter();
  engines.rings = std::move(*rings);
  engines.ring_points = count(covered);
  return engines;
}

// Rings for the points that have them, eBPF for the others.
Result<Engines> cheapest(const tracee::Process& process, const tracee::Points& points,
                         const EngineOptions& options) {
  const bool has_rings = std::ranges::any_of(points.ring_sites, &tracee::RingSite::is_wanted);
  const bool is_unsteady = has_rings && !tracee::has_steady_counter();
  if (is_unsteady) {
    if (auto engines = only_bpf(process, points, options)) {
      engines->why_not_rings =
          "the cycle counter, which they are stamped with, does not tick steadily on this machine";
      return engines;
    }
  }
  auto rings = make_rings(process, points, options);
  if (!rings) {
    if (options.rings_may_come && has_rings) return std::unexpected(std::move(rings).error());
    SJ_TRY(engines, only_bpf(process, points, options));
    engines.why_not_rings = rings.error().text();
    return std::move(engines);
  }
  Engines engines;
  engines.is_by_unsteady_counter = is_unsteady;
  engines.rings = std::move(*rings);
  const PointSet covered = points_of(points.ring_sites, points.schema.points.size());
  engines.ring_points = count(covered);
  if (engines.ring_points == count(own_points(points))) return engines;

  tracee::Points rest = points;
  std::erase_if(rest.sites, [&](const tracee::Site& site) { return covered[site.point]; });
  engines.bpf_points = count(points_of(rest.sites, covered.size()));
  auto bpf = make_bpf(process, std::move(rest), options.bpf);
  if (bpf) {
    engines.bpf = std::move(*bpf);
  } else {
    engines.why_not_bpf = bpf.error().text();
    engines.uncovered_points = std::exchange(engines.bpf_points, 0);
  }
  return engines;
}

}  // namespace

Result<Engines> choose_engines(const tracee::Process& process, const tracee::Points& points,
                               const EngineOptions& options) {
  if (options.wanted == model::Engine::kBpf) return only_bpf(process, points, options);
  if (options.wanted == model::Engine::kRing) return only_rings(process, points, options);
  if (options.rings.target_starts) {
    if (auto engines = only_bpf(process, points, options)) return engines;
  }
  return cheapest(process, points, options);
}

}  // namespace sojourn::capture
