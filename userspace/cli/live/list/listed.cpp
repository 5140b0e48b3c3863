#include "userspace/cli/live/list/listed.h"

namespace sojourn::cli {

std::vector<std::string> PointSites::engines() const {
  std::vector<std::string> engines;
  if (sites != 0) engines.emplace_back(model::name(model::Engine::kBpf));
  if (ring_sites != 0) engines.emplace_back(model::name(model::Engine::kRing));
  return engines;
}

std::vector<PointSites> count_sites(const tracee::Points& points) {
  std::vector<PointSites> counts(points.schema.points.size());
  for (const tracee::Site& site : points.sites) {
    counts[site.point].sites += 1;
    counts[site.point].probes.insert(site.probe);
  }
  for (const tracee::RingSite& site : points.ring_sites)
    if (site.is_wanted) counts[site.point].ring_sites += 1;
  return counts;
}

std::map<ForeignKey, std::size_t> count_foreign(const tracee::Points& points) {
  std::map<ForeignKey, std::size_t> counts;
  for (const tracee::ForeignProbe& probe : points.foreign)
    counts[{probe.file, probe.probe, probe.arguments}] += 1;
  return counts;
}

}  // namespace sojourn::cli
