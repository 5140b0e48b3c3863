#include "userspace/capture/processes/point_finder.h"

#include <utility>

#include "userspace/tracee/points.h"

namespace sojourn::capture {

Result<tracee::Points> PointFinder::find(const tracee::Process& process) const {
  return options_->find ? options_->find(process) : tracee::find_points(process);
}

tracee::Points PointFinder::select(tracee::Points found, const Listener& listener) {
  if (options_->check && !found.schema.points.empty() && !std::exchange(has_checked_, true))
    if (const auto checked = options_->check(found.schema); !checked)
      listener.say(checked.error().text());
  return options_->select ? options_->select(std::move(found)) : std::move(found);
}

std::set<model::PointId> wanted_points(const tracee::Points& points) {
  std::set<model::PointId> all;
  for (const tracee::Site& site : points.sites) all.insert(site.point);
  for (const tracee::RingSite& site : points.ring_sites)
    if (site.is_wanted) all.insert(site.point);
  return all;
}

}  // namespace sojourn::capture
