#include "analysis/journeys/known_ids.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "analysis/journeys/rules.h"
#include "analysis/model/links.h"
#include "analysis/model/unread.h"
#include "analysis/model/value_text.h"

namespace sojourn::journeys {

namespace {

// PDCP's number comes first: numbers of lower layers count pieces.
constexpr std::array<std::string_view, 7> kNumbers = {"psn", "pdcp_sn", "count", "sn",
                                                      "rsn", "rlc_sn",  "seq"};

bool is_read(const model::Point& point, std::size_t field, const Step& step) {
  return (model::unread_bits(model::unread_field(point), step.values) >> field & 1) == 0;
}

}  // namespace

PacketNames::PacketNames(const model::Schema& schema) : schema_(schema) {
  for (const model::Point& point : schema_.points)
    for (const model::Field& field : point.fields)
      if (field.name.starts_with(model::kLifePrefix))
        addresses_.insert(field.name.substr(model::kLifePrefix.size()));
}

bool PacketNames::is_address(const model::Point& point, std::size_t field) const {
  return point.fields[field].is_address || addresses_.contains(point.fields[field].name);
}

bool PacketNames::is_of_kind(const model::Point& point, std::size_t field, Kind kind) const {
  const model::Field& known = point.fields[field];
  if (known.role == model::Role::kProperty || model::is_reserved(known.name) ||
      is_address(point, field))
    return false;
  const bool is_bearer = std::ranges::find(Rules::kBearers, known.name) != Rules::kBearers.end();
  switch (kind) {
    case Kind::kOwner:
      return known.role == model::Role::kGlobal && !is_bearer;
    case Kind::kBearer:
      return is_bearer;
    case Kind::kNumber:
      return std::ranges::find(kNumbers, known.name) != kNumbers.end();
  }
  return false;
}

// Adds the ids of this kind; of several sequence numbers only the one that people know best.
// Returns false if the step has none.
bool PacketNames::add(const Step& step, Kind kind, std::vector<KnownId>& ids) const {
  const model::Point& point = schema_.points[step.point];
  std::vector<KnownId> found;
  for (std::uint32_t field = 0; field < point.fields.size(); ++field)
    if (is_of_kind(point, field, kind) && is_read(point, field, step))
      found.push_back(
          {.point = step.point, .field = field, .value = step.values[field], .is_read = true});
  if (found.empty()) return false;
  if (kind == Kind::kNumber) {
    const auto rank = [&](const KnownId& id) {
      return std::ranges::find(kNumbers, point.fields[id.field].name) - kNumbers.begin();
    };
    ids.push_back(std::ranges::min(found, {}, rank));
  } else {
    ids.insert(ids.end(), found.begin(), found.end());
  }
  return true;
}

std::vector<KnownId> PacketNames::own(const Journey& journey) const {
  const Step& step = journey.steps[journey.own_step];
  const model::Point& point = schema_.points[step.point];
  std::vector<KnownId> ids;
  for (std::uint32_t field = 0; field < point.fields.size(); ++field)
    if (point.fields[field].role != model::Role::kProperty &&
        !model::is_reserved(point.fields[field].name))
      ids.push_back({.point = step.point,
                     .field = field,
                     .value = step.values[field],
                     .is_read = is_read(point, field, step)});
  return ids;
}

std::vector<KnownId> PacketNames::of(const Journey& journey) const {
  constexpr std::array<Kind, 3> kKinds = {Kind::kOwner, Kind::kBearer, Kind::kNumber};
  std::vector<KnownId> ids = own(journey);
  const Step& named = journey.steps[journey.own_step];
  const model::Point& point = schema_.points[named.point];
  const bool has_address =
      std::ranges::any_of(ids, [&](const KnownId& id) { return is_address(point, id.field); });
  const bool is_known = std::ranges::any_of(kKinds, [&](Kind kind) {
    return std::ranges::any_of(
        ids, [&](const KnownId& id) { return is_of_kind(point, id.field, kind); });
  });
  if (is_known && !has_address) return ids;
  std::vector<KnownId> known;
  for (const Kind kind : kKinds) {
    if (add(named, kind, known)) continue;
    for (const Step& step : journey.steps)
      if (add(step, kind, known)) break;
  }
  return known.empty() ? ids : known;
}

std::string owner_text(const model::Schema& schema, const Journey& journey) {
  const auto words = [&schema](const Step& step) {
    std::string text;
    const model::Point& point = schema.points[step.point];
    for (std::size_t i = 0; i < point.fields.size(); ++i)
      if (point.fields[i].role == model::Role::kGlobal)
        text += fmt::format("{}{} {}", text.empty() ? "" : " ", point.fields[i].name,
                            model::value_text(point, i, step.values));
    return text;
  };
  std::string text = words(journey.steps[journey.own_step]);
  for (std::size_t i = 0; text.empty() && i < journey.steps.size(); ++i)
    text = words(journey.steps[i]);
  return text.empty() ? "no global id" : text;
}

}  // namespace sojourn::journeys
