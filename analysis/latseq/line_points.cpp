#include "analysis/latseq/line_points.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sojourn::latseq {

namespace {

std::string plain(std::string_view name) {
  std::string text(name);
  for (char& c : text) {
    const bool known = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-';
    if (!known) c = '_';
  }
  return text;
}

// Reads a shape as LineParser writes it: "D src--dest len:rnti:drb.psn".
model::Point point_of(std::string_view shape) {
  constexpr std::array kRoles = {model::Role::kProperty, model::Role::kGlobal, model::Role::kLocal};
  model::Point point;
  point.direction = *model::direction_from_letter(shape.front());
  shape.remove_prefix(2);
  const auto blank = shape.find(' ');
  const std::string_view places = shape.substr(0, blank);
  const auto dashes = places.find("--");
  point.src = places.substr(0, dashes);
  point.dest = places.substr(dashes + 2);

  std::size_t group = 0;
  std::string_view rest = shape.substr(blank + 1);
  while (!rest.empty()) {
    const auto end = std::min(rest.find_first_of(".:"), rest.size());
    if (end != 0)
      point.fields.push_back(
          {.name = plain(rest.substr(0, end)), .role = kRoles[group], .is_signed = true});
    if (end < rest.size() && rest[end] == ':') ++group;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return point;
}

}  // namespace

std::expected<model::PointId, Skip> LinePoints::of(std::string_view shape) {
  if (const auto known = by_shape_.find(shape); known != by_shape_.end()) return known->second;
  if (by_shape_.size() == kMaxShapes) return std::unexpected(Skip::kTooManyPoints);
  model::Point point = point_of(shape);
  if (!model::check(point)) return std::unexpected(Skip::kNames);
  const auto same = std::ranges::find(schema_.points, point);
  const auto id = static_cast<model::PointId>(same - schema_.points.begin());
  if (same == schema_.points.end()) schema_.points.push_back(std::move(point));
  by_shape_.emplace(shape, id);
  return id;
}

}  // namespace sojourn::latseq
