#include "userspace/scripts/registration.h"

#include <cstdint>
#include <utility>

#include "userspace/base/message.h"

namespace sojourn::scripts {

std::vector<std::byte> pack(const Registration& registration) {
  base::Packer packer;
  packer.put(registration.filters_events)
      .put(registration.filters_journeys)
      .put(registration.sees_events)
      .put(registration.columns.size());
  for (const ColumnPlan& column : registration.columns)
    packer.put_text(column.name).put(static_cast<std::uint8_t>(column.role)).put_all(column.points);
  packer.put(registration.made.size());
  for (const MadePlan& made : registration.made) {
    packer.put_text(made.name).put(made.is_activity).put(made.attributes.size());
    for (const std::string& attribute : made.attributes) packer.put_text(attribute);
  }
  return packer.take();
}

std::optional<Registration> unpack(std::span<const std::byte> bytes) {
  base::Unpacker unpacker(bytes);
  Registration registration;
  registration.filters_events = unpacker.take<bool>();
  registration.filters_journeys = unpacker.take<bool>();
  registration.sees_events = unpacker.take<bool>();
  for (std::size_t left = unpacker.take_count(1); left != 0; --left) {
    ColumnPlan column;
    column.name = unpacker.take_text();
    const auto role = unpacker.take<std::uint8_t>();
    if (role > static_cast<std::uint8_t>(model::Role::kLocal)) return std::nullopt;
    column.role = static_cast<model::Role>(role);
    column.points = unpacker.take_all<model::PointId>();
    registration.columns.push_back(std::move(column));
  }
  for (std::size_t left = unpacker.take_count(1); left != 0; --left) {
    MadePlan made;
    made.name = unpacker.take_text();
    made.is_activity = unpacker.take<bool>();
    for (std::size_t names = unpacker.take_count(1); names != 0; --names)
      made.attributes.push_back(unpacker.take_text());
    registration.made.push_back(std::move(made));
  }
  if (!unpacker.is_sound()) return std::nullopt;
  return registration;
}

Result<model::Schema> schema_behind(const model::Schema& schema, const Registration& registration) {
  model::Schema behind = schema;
  for (const ColumnPlan& column : registration.columns)
    for (const model::PointId id : column.points) {
      if (id >= behind.points.size()) return fail("a column of a point that there is not");
      model::Point& point = behind.points[id];
      if (point.field(column.name))
        return fail("column \"{}\": {} has such a field", column.name, point.name());
      point.fields.push_back({.name = column.name, .role = column.role, .is_signed = true});
      SJ_CHECK(model::check(point));
    }
  for (const MadePlan& made : registration.made) {
    model::Point point;
    point.direction = model::Direction::kScript;
    point.src = made.name;
    if (made.is_activity) point.fields.push_back({.name = std::string(model::kDurationField)});
    for (const std::string& attribute : made.attributes)
      point.fields.push_back({.name = attribute, .is_signed = true});
    SJ_CHECK(model::check(point));
    behind.points.push_back(std::move(point));
  }
  if (behind.points.size() > model::kMaxPoints)
    return fail("the trace has too many points for more");
  return behind;
}

}  // namespace sojourn::scripts
