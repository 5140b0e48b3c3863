#include "userspace/capture/session/hit_costs.h"

#include <utility>

namespace sojourn::capture {

void HitCosts::measure_bpf(const SourceEntries& made) {
  if (!bpf_ && why_unknown_.empty() && !std::ranges::empty(bpf_of(made))) {
    CostNeeds needs;
    for (const BpfEngine* engine : bpf_of(made))
      for (const tracee::Site& site : engine->points().sites) needs.add(site);
    auto costs = calibrate_bpf((*bpf_of(made).begin())->chosen(), needs);
    if (costs) {
      bpf_ = std::move(*costs);
      record_->note_stamp_delay(bpf_->stamp_delay_ns);
    } else {
      why_unknown_ = costs.error().text();
    }
  }
  if (!bpf_) return;
  for (BpfEngine* engine : bpf_of(made)) {
    engine->correct_stamps(bpf_->stamp_delay_ns, bpf_->stamp_spread_ns);
    const auto by_point = bpf_point_costs_ps(engine->points(), *bpf_);
    for (std::size_t point = 0; point < by_point.size(); ++point)
      record_->note_cost(point, by_point[point], bpf_->hit.spread());
  }
}

void HitCosts::note_rings(const model::Schema& schema, const tracee::Points& points) {
  if (!ring_) ring_ = calibrate_ring();
  const auto costs = ring_point_costs_ps(schema, *ring_);
  for (const tracee::RingSite& site : points.ring_sites)
    if (site.is_wanted) record_->note_cost(site.point, costs[site.point], ring_->spread());
}

}  // namespace sojourn::capture
