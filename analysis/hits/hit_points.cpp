#include "analysis/hits/hit_points.h"

#include <algorithm>
#include <utility>

namespace sojourn::hits {

namespace {

constexpr std::size_t kMaxKinds = 10'000;  // a program has some hundred
constexpr std::size_t kMaxName = 128;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

// "gnb:pdcp_in" is the place gnb.pdcp_in.
std::string place_of(std::string_view event) {
  std::string place;
  for (const char c : event.substr(0, kMaxName)) place += c == ':' ? '.' : is_plain(c) ? c : '_';
  return place;
}

std::string field_name(std::string_view name) {
  std::string plain;
  for (const char c : name.substr(0, kMaxName)) plain += is_plain(c) && c != '.' ? c : '_';
  return plain.empty() ? "unnamed" : plain;
}

model::Point scalar_of(const Hit& hit) {
  model::Point point;
  point.direction = model::Direction::kScalar;
  point.src = place_of(hit.event);
  for (const HitField& field : hit.fields)
    if (point.fields.size() < model::kMaxFields)
      point.fields.push_back({.name = field_name(field.name), .is_signed = field.is_signed});
  return point;
}

const HitField* field_of(const Hit& hit, std::string_view name) {
  const auto found = std::ranges::find(hit.fields, name, &HitField::name);
  return found == hit.fields.end() ? nullptr : &*found;
}

}  // namespace

Result<std::optional<model::PointId>> HitPoints::of(const Hit& hit,
                                                    std::vector<std::uint64_t>& values,
                                                    NoPoint& why) {
  auto found = known_.find(hit.event);
  if (found == known_.end() || (found->second.mapped == nullptr && !found->second.is_left_out)) {
    // A hit that no line of the map covers: its fields are a part of its identity. A value may be
    // negative in one hit and not in another.
    std::string shape(hit.event);
    for (const HitField& field : hit.fields) {
      shape += '\n';
      shape += field.name;
    }
    found = known_.find(shape);
    if (found == known_.end()) {
      SJ_TRY(added, add(hit));
      const bool is_by_map = added.mapped != nullptr || added.is_left_out;
      found = known_.emplace(is_by_map ? std::string(hit.event) : std::move(shape), added).first;
    }
  }
  const Known& known = found->second;
  values.clear();
  if (known.is_left_out) {
    why = NoPoint::kLeftOut;
    return std::nullopt;
  }
  if (known.mapped == nullptr) {
    for (const HitField& field : hit.fields)
      if (values.size() < model::kMaxFields) values.push_back(field.value);
    return known.point;
  }
  for (const std::string& source : known.mapped->sources) {
    const HitField* const field = field_of(hit, source);
    why = NoPoint::kLacksField;
    if (field == nullptr) return std::nullopt;
    values.push_back(field->value);
  }
  return known.point;
}

Result<HitPoints::Known> HitPoints::add(const Hit& hit) {
  if (known_.size() == kMaxKinds) return fail("more than {} kinds of events", kMaxKinds);
  Known known;
  known.mapped = map_.find(hit.event);
  if (known.mapped != nullptr && known.mapped->is_left_out) {
    known.mapped = nullptr;
    known.is_left_out = true;
    return known;
  }
  const model::Point point = known.mapped == nullptr ? scalar_of(hit) : known.mapped->point;
  SJ_CHECK(model::check(point));
  SJ_TRY(id, id_of(point));
  known.point = id;
  return known;
}

// Several events of a map may be one point.
Result<model::PointId> HitPoints::id_of(const model::Point& point) {
  const auto same = std::ranges::find(schema_.points, point);
  const auto id = static_cast<std::size_t>(same - schema_.points.begin());
  if (id == model::kMaxPoints) return fail("more points than a trace holds");
  if (same == schema_.points.end()) schema_.points.push_back(point);
  return static_cast<model::PointId>(id);
}

}  // namespace sojourn::hits
