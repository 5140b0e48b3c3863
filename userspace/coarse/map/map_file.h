// A map: the file in which a person says which functions of an unprepared program are points, and
// where their identifiers are (docs/coarse-tracing.md). Here it is read and checked as far as that
// goes without a program. Plain data afterwards.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/links.h"
#include "analysis/model/schema.h"
#include "userspace/coarse/map/expression.h"

namespace sojourn::coarse {

struct TextPosition {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

struct MapField {
  std::string name;
  model::Role role = model::Role::kProperty;
  std::string text;  // its expression, as it was written
  Expression expression;
  bool is_inherited = false;    // instead of an expression: of the call around the hit
  bool is_of_own_call = false;  // of that which ends with the hit, and of no other
  bool is_address = false;      // what a queue and what is in it are known by
  TextPosition place;
};

// One end of how a unit is followed from point to point where no id tells.
struct MapLink {
  model::Link how = model::Link::kCall;
  std::string place;  // that the givers' units are in
  model::LinkEnd end = model::LinkEnd::kGives;

  bool operator==(const MapLink&) const = default;
};

// What becomes of an address: it begins to stand for a unit, or ends.
struct MapLife {
  std::string field;
  model::Life what = model::Life::kBegins;
};

// A hit counts where the field's value is the other's, or the number; or is not.
struct MapCondition {
  std::size_t field = 0;
  std::optional<std::size_t> other;  // none: the number
  std::uint64_t number = 0;
  bool is_equal = false;
};

// A span is two points, its end right behind its beginning.
enum class SpanPart : std::uint8_t { kPoint, kSpanBegin, kSpanEnd };

struct MapPoint {
  SpanPart part = SpanPart::kPoint;
  bool is_exit = false;  // hit where the function is left, not where it is entered
  std::string function;
  std::string library;  // a glob for the file's name; empty: any
  // Without a source each function that fits is a scalar of its own name, or a span's place is.
  model::Direction direction = model::Direction::kScalar;
  std::string src;
  std::string dest;
  std::vector<MapField> fields;  // in the order of their roles, then of the file
  std::vector<MapCondition> conditions;
  std::vector<MapLink> links = {};
  std::vector<MapLife> lives = {};
  TextPosition place;  // of the function's name
};

// A release of the program that the map was compared with, and by which functions it is known.
struct MapRelease {
  std::string name;                // "25.10"
  std::vector<std::string> has;    // as a point's function
  std::vector<std::string> lacks;  // none of them is there
};

struct Map {
  std::string path;
  std::string about;                       // in its maker's words
  std::vector<std::string> programs = {};  // whose executables' files have these names
  std::vector<MapRelease> releases = {};   // the first that fits is meant
  std::vector<MapPoint> points;
  bool needs_calls = false;  // who was called by whom on a thread

  // "my.toml:3:12"
  std::string at(TextPosition place) const;
};

Result<Map> read_map(const std::string& path);

// The same of a text; errors call it by that name.
Result<Map> parse_map(std::string_view text, const std::string& path);

}  // namespace sojourn::coarse
