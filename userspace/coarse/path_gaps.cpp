#include "userspace/coarse/path_gaps.h"

#include <algorithm>
#include <set>

#include <fmt/ranges.h>

#include "userspace/tracee/procfs.h"

namespace sojourn::coarse {

namespace {

constexpr std::size_t kMaxNamed = 3;

bool is_on_path(const MapPoint& point) {
  return (point.direction == model::Direction::kDownlink ||
          point.direction == model::Direction::kUplink) &&
         !point.src.empty() && !point.dest.empty();
}

std::string name_of(const MapPoint& point) {
  return fmt::format("{} {}--{}", model::letter(point.direction), point.src, point.dest);
}

// A dest feeds every src that equals it, or begins it up to a dot.
bool feeds(const std::string& dest, const std::string& src) {
  return dest == src || (dest.starts_with(src) && dest[src.size()] == '.');
}

bool feeds(const MapPoint& one, const MapPoint& other) {
  return is_on_path(one) && is_on_path(other) && one.direction == other.direction &&
         feeds(one.dest, other.src);
}

// Placed points that a unit reaches only through the missing one, and the points behind these.
std::vector<std::string> behind(std::span<const MapRow> rows, const std::string& missing) {
  std::set<const MapPoint*> lost;
  for (const MapRow& row : rows)
    if (is_on_path(*row.point) && name_of(*row.point) == missing) lost.insert(row.point);
  std::vector<std::string> names;
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (const MapRow& row : rows) {
      if (!row.is_placed || lost.contains(row.point)) continue;
      bool is_behind = false;
      bool has_another = false;
      for (const MapRow& other : rows) {
        if (!feeds(*other.point, *row.point)) continue;
        if (lost.contains(other.point))
          is_behind = true;
        else if (other.is_placed)
          has_another = true;
      }
      if (!is_behind || has_another) continue;
      lost.insert(row.point);
      if (std::string name = name_of(*row.point); std::ranges::find(names, name) == names.end())
        names.push_back(std::move(name));
      goes_on = true;
    }
  }
  return names;
}

}  // namespace

std::vector<std::string> unplaced_points(std::span<const MapRow> rows) {
  std::set<std::string> placed;
  for (const MapRow& row : rows)
    if (row.is_placed && is_on_path(*row.point)) placed.insert(name_of(*row.point));
  std::vector<std::string> names;
  for (const MapRow& row : rows)
    if (!row.is_placed && is_on_path(*row.point))
      if (std::string name = name_of(*row.point);
          !placed.contains(name) && std::ranges::find(names, name) == names.end())
        names.push_back(std::move(name));
  return names;
}

std::vector<std::string> gap_remarks(std::span<const MapRow> rows) {
  std::vector<std::string> remarks;
  for (const std::string& missing : unplaced_points(rows)) {
    std::vector<std::string> names = behind(rows, missing);
    if (names.empty()) continue;
    const std::size_t all = names.size();
    if (all > kMaxNamed) names.resize(kMaxNamed);
    remarks.push_back(tracee::printable(fmt::format(
        "without {} journeys begin anew behind it: at {}{}", missing, fmt::join(names, ", "),
        all > kMaxNamed ? fmt::format(" and {} more", all - kMaxNamed) : "")));
  }
  return remarks;
}

}  // namespace sojourn::coarse
