#include "analysis/differential/time_errors.h"

#include <algorithm>
#include <cmath>

#include "analysis/report/hit_error.h"

namespace sojourn::differential {
namespace {

std::size_t direction_index(model::Direction direction) {
  return direction == model::Direction::kUplink ? 1 : 0;
}

double mean_of_known(const std::vector<float>& times_ns) {
  double sum = 0;
  double count = 0;
  for (const float time_ns : times_ns) {
    if (std::isnan(time_ns)) continue;
    sum += static_cast<double>(time_ns);
    count += 1;
  }
  return count == 0 ? 0 : sum / count;
}

}  // namespace

double TimeErrors::of_stay(std::string_view place) const {
  const auto known = std::ranges::find(stays_ns, place, &std::pair<std::string, double>::first);
  return known == stays_ns.end() ? 0 : known->second;
}

void TimeErrorFinder::Ends::add(std::size_t from, std::size_t to) {
  cross_hosts |= from != to;
  if (from >= hosts.size()) hosts.resize(from + 1);
  hosts[from] = true;
}

TimeErrorFinder::TimeErrorFinder(const model::Capture& capture, const journeys::Topology& topology)
    : capture_(capture), topology_(topology), of_place_(topology.places.size()) {}

std::size_t TimeErrorFinder::host_of(const journeys::Step& step) const {
  return model::host_of(capture_.hosts, step.stream);
}

void TimeErrorFinder::on_journey(const journeys::Journey& journey) {
  if (!journey.has_latency()) return;
  for (const journeys::Step& step : journey.steps)
    for (const std::uint32_t at : step.parents) {
      const journeys::Step& parent = journey.steps[at];
      if (const auto place = topology_.points[parent.point].place)
        of_place_[*place].add(host_of(parent), host_of(step));
    }
  // Several segments may have entered at the instant at which a journey begins.
  Ends& ends = of_latency_[direction_index(journey.direction)];
  const std::size_t end = host_of(journey.steps[journey.end_step]);
  for (const journeys::Step& step : journey.steps)
    if (step.ts_ns == journey.start_ns || step.entered_ns == journey.start_ns)
      ends.add(host_of(step), end);
}

double TimeErrorFinder::stamp_error_ns(const Ends& ends, const std::vector<float>& times_ns) const {
  const auto of_all = static_cast<double>(capture_.stamp_error_ns);
  if (capture_.hosts.empty() || ends.hosts.empty() || ends.cross_hosts) return of_all;
  const double mean_ns = mean_of_known(times_ns);
  double largest = 0;
  for (std::size_t at = 0; at < ends.hosts.size(); ++at) {
    if (!ends.hosts[at]) continue;
    const model::MergedHost& host = capture_.hosts[at];
    largest = std::max(largest, static_cast<double>(host.stamp_error_ns) +
                                    static_cast<double>(host.rate_error_ppb) * 1e-9 * mean_ns);
  }
  return std::min(largest, of_all);
}

std::array<TimeErrors, 2> TimeErrorFinder::found(const std::array<RunOfPackets, 2>& packets) const {
  std::array<TimeErrors, 2> errors;
  for (std::size_t direction = 0; direction < errors.size(); ++direction) {
    double of_hits = 0;
    for (const journeys::Pair& pair : topology_.pairs)
      if (topology_.points[pair.parent].direction == model::kPacketDirections[direction])
        of_hits = std::max(of_hits, report::hit_error_ns(capture_, pair.parent));
    const RunOfPackets& of_direction = packets[direction];
    errors[direction].latency_ns =
        std::max(of_hits, stamp_error_ns(of_latency_[direction], of_direction.latency_ns));
    for (const auto& [name, stays] : of_direction.stays_ns) {
      const auto place = std::ranges::find_if(topology_.places, [&](const journeys::Place& each) {
        return each.name == name && direction_index(each.direction) == direction;
      });
      if (place == topology_.places.end()) continue;
      const auto at = static_cast<std::size_t>(place - topology_.places.begin());
      errors[direction].stays_ns.emplace_back(
          name, std::max(of_hits, stamp_error_ns(of_place_[at], stays)));
    }
  }
  return errors;
}

}  // namespace sojourn::differential
