#include <nlohmann/json.hpp>

#include "analysis/schema_language/file_name.h"
#include "analysis/schema_language/generate.h"
#include "analysis/schema_language/macros.h"

namespace sojourn::schema_language {

namespace {

using nlohmann::ordered_json;

ordered_json event_json(const Event& event, const Subsystem& subsystem, std::size_t id) {
  const model::Point& point = event.point;
  ordered_json fields = ordered_json::array();
  for (const model::Field& field : point.fields)
    fields.push_back({{"name", field.name},
                      {"role", model::name(field.role)},
                      {"bytes", field.bytes},
                      {"signed", field.is_signed}});
  const std::string dir(1, model::letter(point.direction));
  return {{"name", event.name},
          {"id", id},
          {"text", event.text},
          {"macro", fire_macro(subsystem.name, event.name)},
          {"words", {dir + ' ' + point.name(), model::format_fields(point)}},
          {"dir", dir},
          {"src", point.src},
          {"dest", point.dest},
          {"fields", std::move(fields)}};
}

}  // namespace

std::string generate_json(const Schema& schema, std::string_view file) {
  ordered_json subsystems = ordered_json::array();
  for (const Subsystem& subsystem : schema.subsystems) {
    ordered_json events = ordered_json::array();
    for (const Event& event : subsystem.events)
      events.push_back(event_json(event, subsystem, events.size()));
    subsystems.push_back(
        {{"name", subsystem.name}, {"id", subsystems.size()}, {"events", std::move(events)}});
  }
  const ordered_json document = {{"schema", file_name(file)},
                                 {"subsystems", std::move(subsystems)}};
  // A text need not be UTF-8, JSON must be.
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace sojourn::schema_language
