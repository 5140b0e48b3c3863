// Reads the keys of a map about units that no id follows.
#include <algorithm>
#include <array>
#include <utility>

#include "userspace/coarse/map/map_reader.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::coarse {

namespace {

constexpr std::array<std::string_view, 3> kLinkWords = {"nesting", "order", "gather"};  // by Link

}  // namespace

Result<void> MapReader::read_inherited(const toml::table& table, MapPoint& point) {
  return read_names(table, "inherit", [&](std::string name, Position place) -> Result<void> {
    if (std::ranges::find(point.fields, name, &MapField::name) != point.fields.end())
      return fail_at(place, "inherit: the point has '{}' itself", tracee::printable(name));
    SJ_CHECK(check_field(name, place, point));
    point.fields.push_back({.name = std::move(name),
                            .role = model::Role::kProperty,
                            .text = {},
                            .expression = {},
                            .is_inherited = true,
                            .is_of_own_call = false,
                            .place = place});
    map_.needs_calls = true;
    return {};
  });
}

Result<void> MapReader::read_lives(const toml::table& table, std::string_view key, model::Life what,
                                   MapPoint& point) {
  return read_names(table, key, [&](std::string name, Position place) -> Result<void> {
    const auto field = std::ranges::find(point.fields, name, &MapField::name);
    if (field == point.fields.end()) return fail_unknown(place, key, name, point);
    if (field->role == model::Role::kProperty)
      return fail_at(place, "{}: '{}' is not among the point's ids", key, name);
    if (field->is_inherited)
      return fail_at(place, "{}: '{}' is inherited: write it at the point that reads the value",
                     key, name);
    // The two ends of a span may each say something.
    const auto is_said = [&](const MapLife& life) {
      return life.field == name &&
             (life.what == what || point.part == SpanPart::kPoint || is_of_result(*field));
    };
    if (std::ranges::any_of(point.lives, is_said))
      return fail_at(place, "{}: what becomes of '{}' is said twice", key, name);
    point.lives.push_back({.field = std::move(name), .what = what});
    return {};
  });
}

Result<void> MapReader::read_link(const toml::table& table, const MapPoint& point) {
  const toml::node* const link = table.get("link");
  if (link == nullptr) return {};
  const Position place = place_of(link->source());
  SJ_TRY(word, text_of(*link, "link"));
  const auto* const known = std::ranges::find(kLinkWords, word);
  if (known == kLinkWords.end())
    return fail_at(place, "link: expected \"nesting\", \"order\" or \"gather\"");
  if (point.direction != model::Direction::kDownlink &&
      point.direction != model::Direction::kUplink)
    return fail_at(place, "link: it is units that are followed, in direction \"D\" or \"U\"");
  takers_.push_back({.point = map_.points.size(),
                     .how = static_cast<model::Link>(known - kLinkWords.begin()),
                     .place = place});
  return {};
}

// Joins both ends of each link by the place in which units are handed over.
Result<void> MapReader::join_links() {
  const auto add = [](MapPoint& point, const MapLink& link) {
    if (std::ranges::find(point.links, link) == point.links.end()) point.links.push_back(link);
  };
  for (const Taker& taker : takers_) {
    MapPoint& child = map_.points[taker.point];
    bool is_fed = false;
    for (MapPoint& parent : map_.points) {
      const bool feeds = child.src == parent.dest || child.src.starts_with(parent.dest + ".");
      // A call that ends has no calls within it any more.
      const bool is_over = parent.is_exit && taker.how == model::Link::kCall;
      if (&parent == &child || parent.direction != child.direction || parent.dest.empty() ||
          !feeds || is_over)
        continue;
      is_fed = true;
      add(parent, {.how = taker.how, .place = parent.dest, .end = model::LinkEnd::kGives});
      add(child, {.how = taker.how, .place = parent.dest, .end = model::LinkEnd::kTakes});
    }
    if (!is_fed)
      return fail_at(taker.place, "link: no other point of the map leads to '{}'", child.src);
    map_.needs_calls = map_.needs_calls || taker.how == model::Link::kCall;
  }
  return {};
}

// Checks that each inherited field is a field of some point.
Result<void> MapReader::check_inherited() const {
  for (const MapPoint& point : map_.points)
    for (const MapField& field : point.fields)
      if (field.is_inherited && std::ranges::none_of(map_.points, [&](const MapPoint& other) {
            return std::ranges::any_of(other.fields, [&](const MapField& one) {
              return one.name == field.name && !one.is_inherited;
            });
          }))
        return fail_at(field.place, "inherit: no point of the map has '{}' itself", field.name);
  return {};
}

}  // namespace sojourn::coarse
