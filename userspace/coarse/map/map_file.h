// A map: the file that says which functions of an unprepared program are points, and where their
// ids are (docs/coarse-tracing.md). It is read here, and checked as far as that is possible without
// a program. Plain data afterwards.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/language/source_text.h"
#include "analysis/model/links.h"
#include "analysis/model/schema.h"
#include "userspace/coarse/map/expression.h"

namespace sojourn::coarse {

using language::Position;

struct MapField {
  std::string name;
  model::Role role = model::Role::kProperty;
  std::string text;  // its expression, as it was written
  Expression expression;
  bool is_inherited = false;    // no expression: the value is that of the call around the hit
  bool is_of_own_call = false;  // only that of the call that ends with the hit
  bool is_address = false;      // the address of a queue or of an item in it
  Position place;
};

// One end of a link, which follows a unit from point to point without an id.
struct MapLink {
  model::Link how = model::Link::kCall;
  std::string place;  // the place of the units that are handed over
  model::LinkEnd end = model::LinkEnd::kGives;

  bool operator==(const MapLink&) const = default;
};

// A change in the life of an address: it begins to identify a unit, or ends to.
struct MapLife {
  std::string field;
  model::Life what = model::Life::kBegins;
};

// A hit counts only if the field equals another field, or a number; or if it differs.
struct MapCondition {
  std::size_t field = 0;
  std::optional<std::size_t> other;  // unset: compare with the number
  std::uint64_t number = 0;
  bool is_equal = false;
};

// A span is two points, its end right behind its beginning.
enum class SpanPart : std::uint8_t { kPoint, kSpanBegin, kSpanEnd };

struct MapPoint {
  SpanPart part = SpanPart::kPoint;
  bool is_exit = false;                   // hit where the function is left, not where it is entered
  bool is_optional = false;               // shed first if tracing takes too much
  std::vector<std::string> only_in = {};  // releases that have it; empty: all, known or not
  std::vector<std::string> not_in = {};   // releases that do not
  std::string function;
  std::string library;  // a glob for the file's name; empty: any
  // Without a src each function that fits is a scalar named after it, or the place of a span.
  model::Direction direction = model::Direction::kScalar;
  std::string src;
  std::string dest;
  std::vector<MapField> fields;  // in the order of their roles, then of the file
  std::vector<MapCondition> conditions;
  std::vector<MapLink> links = {};
  std::vector<MapLife> lives = {};
  Position place;  // of the function's name
};

// A release of the program, and the functions by which the map recognises it.
struct MapRelease {
  std::string name;                // "25.10"
  std::vector<std::string> has;    // as a point's function
  std::vector<std::string> lacks;  // the release has none of these functions
};

struct Map {
  std::string path;
  std::string about;                       // in its maker's words
  std::vector<std::string> programs = {};  // names of executables' files
  std::vector<MapRelease> releases = {};   // the first that fits is meant
  std::vector<MapPoint> points;
  bool needs_calls = false;  // the map needs to know which call a point was hit in

  // "my.toml:3:12"
  std::string at(Position place) const;
};

Result<Map> read_map(const std::string& path);

// Parses a text; errors use `path` as its name.
Result<Map> parse_map(std::string_view text, const std::string& path);

}  // namespace sojourn::coarse
