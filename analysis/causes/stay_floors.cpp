#include "analysis/causes/stay_floors.h"

namespace sojourn::causes {

void StayFloors::on_stay(const journeys::Stay& stay) {
  const auto handover =
      stay.entered_by == stay.left_by ? host::Handover::kSameThread : host::Handover::kOtherThread;
  stays_ns_[{topology_.pairs[stay.pair].place, handover}].add(stay.left_ns - stay.entered_ns);
}

std::vector<StayFloors::Row> StayFloors::as_fast_as_allowed(
    const host::HostProfile& machine) const {
  std::vector<Row> rows;
  for (const auto& [key, stays_ns] : stays_ns_) {
    const auto floor = host::floor_of(machine, key.second);
    if (!floor || stays_ns.count() < kFewestStays) continue;
    const auto median_ns = static_cast<double>(stays_ns.quantile(0.5));
    if (!host::is_as_fast_as_allowed(median_ns, *floor)) continue;
    rows.push_back({.place = key.first,
                    .handover = key.second,
                    .count = stays_ns.count(),
                    .median_ns = median_ns,
                    .floor = *floor});
  }
  return rows;
}

}  // namespace sojourn::causes
