#include "analysis/page/page_groups.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/differential/latency_series.h"
#include "analysis/present/report/cdf.h"
#include "analysis/statistics/distribution.h"
#include "analysis/trace/reader.h"

namespace sojourn::page {

using nlohmann::ordered_json;

namespace {

constexpr std::size_t kMostGroups = 200;  // as many as the page shows
// The percentiles that the page lists: kPercentiles in web/distribution_plot.ts has the same.
constexpr std::array kShares = {0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999};

ordered_json group_json(const report::Group& group, differential::LatencySeries& series) {
  auto percentiles = ordered_json::array();
  for (const double share : kShares) percentiles.push_back(group.times_ns.quantile(share));
  auto points = ordered_json::array();
  for (const present::CdfPoint& point : present::cdf_points(group.times_ns)) {
    const auto band = series.above(group.direction, group.name, point.ns);
    points.push_back({point.ns, point.longer, band ? ordered_json(band->low) : ordered_json(),
                      band ? ordered_json(band->high) : ordered_json()});
  }
  return {{"dir", std::string(1, group.direction)},
          {"name", group.name},
          {"count", group.times_ns.count()},
          {"min_ns", group.times_ns.min()},
          {"max_ns", group.times_ns.max()},
          {"percentiles_ns", std::move(percentiles)},
          {"points", std::move(points)}};
}

}  // namespace

Result<ordered_json> groups_of(Executor& executor, pipeline::TraceInput& input, report::By by,
                               const PacketSelection& selection,
                               const pipeline::Progress& progress) {
  report::Groups groups(by, input.reader().schema(), input.topology(),
                        std::map<std::uint32_t, std::string>());
  differential::LatencySeries series(
      [&](const journeys::Journey& journey) { return groups.name_of(journey); });
  pipeline::TracePass pass(executor, input);
  pass.show(progress);
  if (selection.filter != nullptr)
    pass.keep([&](const journeys::Journey& journey) { return (*selection.filter)(journey); });
  pass.observe(groups);
  if (!report::counts_stays(by)) pass.observe(series);
  SJ_CHECK(pass.run());
  groups.finish();
  std::vector<const report::Group*> timed;
  for (const report::Group& group : groups.all())
    if (group.times_ns.count() > 0) timed.push_back(&group);
  std::ranges::stable_sort(timed, [](const report::Group* a, const report::Group* b) {
    return a->times_ns.count() > b->times_ns.count();
  });
  auto told = ordered_json::array();
  for (std::size_t at = 0; at < std::min(timed.size(), kMostGroups); ++at)
    told.push_back(group_json(*timed[at], series));
  return ordered_json{{"all", timed.size()}, {"groups", std::move(told)}};
}

}  // namespace sojourn::page
