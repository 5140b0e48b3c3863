#include "userspace/capture/processes/point_finder.h"

#include <utility>

#include "userspace/target/points.h"

namespace sojourn::capture {

Result<target::Points> PointFinder::find(const target::Process& process) const {
  return options_->find ? options_->find(process) : target::find_points(process);
}

target::Points PointFinder::select(target::Points found, const Listener& listener) {
  if (options_->check && !found.schema.points.empty() && !std::exchange(has_checked_, true))
    if (const auto checked = options_->check(found.schema); !checked)
      listener.say(checked.error().text());
  return options_->select ? options_->select(std::move(found)) : std::move(found);
}

std::set<model::PointId> wanted_points(const target::Points& points) {
  std::set<model::PointId> all;
  for (const target::Site& site : points.sites) all.insert(site.point);
  for (const target::RingSite& site : points.ring_sites)
    if (site.is_wanted) all.insert(site.point);
  return all;
}

}  // namespace sojourn::capture
