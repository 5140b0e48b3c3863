#include "analysis/present/report/path_ends.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/present/words/text_format.h"

namespace sojourn::present {

namespace {

using model::Direction;

std::vector<model::Point> unplaced_points(const ReportContent& content, Direction direction) {
  std::vector<model::Point> points;
  for (const std::string& name : content.facts.capture.unplaced) {
    auto point = model::parse_point(name, "");
    if (point && point->direction == direction) points.push_back(std::move(*point));
  }
  return points;
}

struct Ends {
  std::vector<std::string> from;
  std::vector<std::string> to;

  bool are_both_known() const { return !from.empty() && !to.empty(); }
};

void note_place(std::vector<std::string>& places, const std::string& place) {
  if (std::ranges::find(places, place) == places.end()) places.push_back(place);
}

// The ends of the direction's points, but for those at which one of the `missing` would go on.
Ends ends_of(const ReportContent& content, Direction direction,
             const std::vector<model::Point>& missing) {
  const auto& points = content.facts.schema.points;
  Ends ends;
  std::optional<std::size_t> loop;
  for (std::size_t at = 0; at < content.topology.points.size(); ++at) {
    const auto& plan = content.topology.points[at];
    if (plan.direction != direction || content.totals.points[at].events == 0) continue;
    if (plan.input && plan.output) continue;
    if (plan.loop != 0 && (!loop || plan.rank < content.topology.points[*loop].rank)) loop = at;
    if (plan.input &&
        std::ranges::find(missing, points[at].src, &model::Point::dest) == missing.end())
      note_place(ends.from, points[at].src);
    if (plan.output &&
        std::ranges::find(missing, points[at].dest, &model::Point::src) == missing.end())
      note_place(ends.to, points[at].dest);
  }
  // A loop without an input is entered at one of its points.
  if (ends.from.empty() && loop) ends.from.push_back(points[*loop].src);
  return ends;
}

std::string places_words(const std::vector<std::string>& places) {
  if (places.empty()) return "?";
  return places.size() == 1 ? places[0]
                            : fmt::format("{} and {} more", places[0], places.size() - 1);
}

}  // namespace

std::string path_ends(const ReportContent& content, Direction direction) {
  const Ends all = ends_of(content, direction, {});
  const auto whole = [&] {
    return fmt::format("{} -> {}", places_words(all.from), places_words(all.to));
  };
  const auto missing = unplaced_points(content, direction);
  if (missing.empty()) return whole();
  const Ends ends = ends_of(content, direction, missing);
  if (ends.from == all.from && ends.to == all.to) return whole();
  if (ends.are_both_known())
    return fmt::format("from {}, to {}", places_words(ends.from), places_words(ends.to));
  if (!ends.from.empty()) return "from " + places_words(ends.from);
  if (!ends.to.empty()) return "to " + places_words(ends.to);
  return whole();
}

std::string unplaced_text(const ReportContent& content) {
  constexpr std::size_t kMaxNamed = 3;
  std::string text;
  for (const auto direction : model::kPacketDirections) {
    const auto missing = unplaced_points(content, direction);
    if (missing.empty()) continue;
    std::vector<std::string> names;
    for (const model::Point& point : missing) {
      if (names.size() == kMaxNamed) break;
      names.push_back(printable(point.name()));
    }
    if (missing.size() > kMaxNamed)
      names.push_back(fmt::format("{} more", missing.size() - kMaxNamed));
    text += wrapped(fmt::format(
                        "{}: {} of the map {} not placed: {}; journeys end before {} and "
                        "begin anew behind {}",
                        letter(direction),
                        count(missing.size()) + (missing.size() == 1 ? " point" : " points"),
                        missing.size() == 1 ? "is" : "are", fmt::join(names, ", "),
                        missing.size() == 1 ? "it" : "them", missing.size() == 1 ? "it" : "them"),
                    2, content.width) +
            "\n";
  }
  return text;
}

}  // namespace sojourn::present
