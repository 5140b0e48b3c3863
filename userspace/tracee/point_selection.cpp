#include "userspace/tracee/point_selection.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace sojourn::tracee {

Points select(Points points, const std::vector<bool>& wanted) {
  std::vector<std::optional<model::PointId>> ids;  // the new ones
  std::vector<model::PointId> among_left_out;
  std::vector<model::Point> kept;
  for (model::Point& point : points.schema.points) {
    const bool keeps = wanted[ids.size()];
    among_left_out.push_back(static_cast<model::PointId>(points.left_out.size()));
    ids.push_back(keeps ? std::optional(static_cast<model::PointId>(kept.size())) : std::nullopt);
    (keeps ? kept : points.left_out).push_back(std::move(point));
  }
  points.schema.points = std::move(kept);
  std::erase_if(points.sites, [&](const Site& site) { return !ids[site.point]; });
  for (Site& site : points.sites) site.point = *ids[site.point];
  for (RingSite& site : points.ring_sites) {
    if (!site.is_wanted) continue;
    site.is_wanted = ids[site.point].has_value();
    site.point = site.is_wanted ? *ids[site.point] : among_left_out[site.point];
  }
  return points;
}

Result<void> join(Points& points, model::Schema& schema) {
  std::vector<model::PointId> ids;
  for (model::Point& point : points.schema.points) {
    const auto known = std::ranges::find(schema.points, point);
    const auto id = static_cast<std::size_t>(known - schema.points.begin());
    if (id == model::kMaxPoints) return fail("more than {} points", model::kMaxPoints);
    if (known == schema.points.end()) schema.points.push_back(std::move(point));
    ids.push_back(static_cast<model::PointId>(id));
  }
  for (Site& site : points.sites) site.point = ids[site.point];
  for (RingSite& site : points.ring_sites)
    if (site.is_wanted) site.point = ids[site.point];
  points.schema = schema;
  return {};
}

bool has_any(const Points& points) {
  return !points.sites.empty() || std::ranges::any_of(points.ring_sites, &RingSite::is_wanted);
}

}  // namespace sojourn::tracee
