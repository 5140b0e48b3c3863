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

bool is_reached(std::span<const MapRow> rows, const MapPoint& point) {
  return std::ranges::any_of(
      rows, [&](const MapRow& row) { return row.is_placed && feeds(*row.point, point); });
}

bool leads_on(std::span<const MapRow> rows, const MapPoint& point) {
  return std::ranges::any_of(
      rows, [&](const MapRow& row) { return row.is_placed && feeds(point, *row.point); });
}

// The ends of paths at a missing point.
struct Ends {
  std::vector<std::string> before;  // placed points that lead to no other one
  std::vector<std::string> behind;  // placed points that no other one leads to
};

Ends ends_at(std::span<const MapRow> rows, const std::string& missing) {
  std::set<std::string> before;
  std::set<std::string> behind;
  for (const MapRow& gap : rows) {
    if (!is_on_path(*gap.point) || name_of(*gap.point) != missing) continue;
    for (const MapRow& row : rows) {
      if (!row.is_placed) continue;
      if (feeds(*row.point, *gap.point) && !leads_on(rows, *row.point))
        before.insert(name_of(*row.point));
      if (feeds(*gap.point, *row.point) && !is_reached(rows, *row.point))
        behind.insert(name_of(*row.point));
    }
  }
  return {{before.begin(), before.end()}, {behind.begin(), behind.end()}};
}

std::string listed(std::vector<std::string> names) {
  const std::size_t all = names.size();
  if (all > kMaxNamed) names.resize(kMaxNamed);
  return fmt::format("{}{}", fmt::join(names, ", "),
                     all > kMaxNamed ? fmt::format(" and {} more", all - kMaxNamed) : "");
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
    const auto [before, behind] = ends_at(rows, missing);
    std::string remark = "without " + missing + " journeys";
    if (!before.empty()) remark += " end at " + listed(before);
    if (!before.empty() && !behind.empty()) remark += ", and";
    if (!behind.empty()) remark += " begin anew at " + listed(behind);
    if (!before.empty() || !behind.empty()) remarks.push_back(tracee::printable(remark));
  }
  return remarks;
}

}  // namespace sojourn::coarse
