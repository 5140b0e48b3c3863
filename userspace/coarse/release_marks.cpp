#include "userspace/coarse/release_marks.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "userspace/tracee/procfs.h"

namespace sojourn::coarse {

ReleaseMarks::ReleaseMarks(std::span<const Map> maps) : maps_(maps) {
  for (const Map& map : maps)
    for (const MapRelease& release : map.releases)
      for (const auto* names : {&release.has, &release.lacks})
        functions_.insert(functions_.end(), names->begin(), names->end());
  std::ranges::sort(functions_);
  functions_.erase(std::ranges::unique(functions_).begin(), functions_.end());
  are_there_.resize(functions_.size());
}

std::vector<Query> ReleaseMarks::queries() const {
  std::vector<Query> queries;
  queries.reserve(functions_.size());
  for (const std::string& function : functions_)
    queries.push_back(
        {.pattern = function, .address = {}, .variables = {}, .guesses = 0, .tells_near = false});
  return queries;
}

void ReleaseMarks::take(std::span<const SearchResult> results) {
  for (std::size_t at = 0; at < results.size(); ++at)
    if (!results[at].functions.empty() || !results[at].ambiguous.empty()) are_there_[at] = true;
}

bool ReleaseMarks::is_there(const std::string& function) const {
  const auto known = std::ranges::lower_bound(functions_, function);
  return are_there_[static_cast<std::size_t>(known - functions_.begin())];
}

const MapRelease* ReleaseMarks::release_of(const Map& map) const {
  const auto is_there = [&](const std::string& function) { return this->is_there(function); };
  const auto found = std::ranges::find_if(map.releases, [&](const MapRelease& release) {
    return std::ranges::all_of(release.has, is_there) &&
           std::ranges::none_of(release.lacks, is_there);
  });
  return found == map.releases.end() ? nullptr : &*found;
}

bool ReleaseMarks::leaves_out(const Map& map, const MapPoint& point) const {
  if (point.only_in.empty() && point.not_in.empty()) return false;
  const MapRelease* const release = release_of(map);
  const auto is_among = [&](const std::vector<std::string>& names) {
    return release != nullptr && std::ranges::find(names, release->name) != names.end();
  };
  return is_among(point.not_in) || (!point.only_in.empty() && !is_among(point.only_in));
}

std::vector<std::string> ReleaseMarks::remarks() const {
  std::vector<std::string> remarks;
  for (const Map& map : maps_) {
    if (map.releases.empty()) continue;
    const MapRelease* const found = release_of(map);
    std::vector<std::string> names;
    names.reserve(map.releases.size());
    for (const MapRelease& release : map.releases) names.push_back(release.name);
    remarks.push_back(tracee::printable(
        found != nullptr
            ? fmt::format("{}: the program looks like release {}", map.path, found->name)
            : fmt::format("{}: the program is none of the releases that the map knows ({}). It may "
                          "be newer: check the values that are read, by sojourn events",
                          map.path, fmt::join(names, ", "))));
  }
  return remarks;
}

}  // namespace sojourn::coarse
