// The schema language: Barrelfish's pleco, with typed fields and ways added (docs/schemas.md has
// the grammar). After parse() every event is a point that model::check() accepts, no two events are
// the same point, and no two declarations become the same macro: generators rely on that. Errors
// read `FILE:LINE:COLUMN: expected ..., found ...`, and two more lines show the place.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/schema.h"

namespace sojourn::schema_language {

// Ids are places in the vectors, as declared.
struct Event {
  std::string name;
  std::string text;    // never empty: the name, where none was given
  model::Point point;  // its fields are the macro's arguments, in this order
};

struct Subsystem {
  std::string name;
  std::vector<Event> events;
};

struct Schema {
  std::vector<Subsystem> subsystems;
};

constexpr std::size_t kMaxSchemaBytes = std::size_t{4} << 20;

// `file` is the schema's name in errors.
Result<Schema> parse(std::string_view text, std::string_view file);

}  // namespace sojourn::schema_language
