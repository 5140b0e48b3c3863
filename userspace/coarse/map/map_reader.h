// The reader of a map's text: its parts, one file for each kind of table; map_file.cpp begins it.
// Only these files include this header. One thread; lives for one text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <toml++/toml.h>

#include "userspace/coarse/map/map_file.h"

namespace sojourn::coarse {

constexpr std::size_t kMaxMapPoints = 4096;  // and as many queues, and spans

inline Position place_of(const toml::source_region& source) {
  return {.line = source.begin.line, .column = source.begin.column};
}

std::string_view trimmed(std::string_view text);
// The direction of a point; only directions of targets are allowed.
std::optional<model::Direction> direction_from(std::string_view letter);
// Returns whether the expression begins with the function's result.
bool is_of_result(const MapField& field);

class MapReader {
 public:
  MapReader(std::string_view text, const std::string& path) : source_(text, path) {
    map_.path = path;
  }

  Result<Map> read();

 private:
  // map_points.cpp
  Result<void> read_points(const toml::table& top);
  Result<MapPoint> read_point(const toml::table& table);
  Result<void> read_function(const toml::table& table, std::string_view of, MapPoint& point);
  Result<void> read_at(const toml::table& table, MapPoint& point);
  Result<void> read_optional(const toml::table& table, MapPoint& point);
  Result<void> read_known_releases(const toml::table& table, std::string_view key,
                                   std::vector<std::string>& names) const;
  Result<void> check_exit_field(const MapField& field) const;
  Result<void> read_place(const toml::table& table, MapPoint& point);
  Result<void> read_fields(const toml::table& table, MapPoint& point);
  Result<void> check_field(const std::string& name, Position place, const MapPoint& point) const;
  Result<void> add_field(std::string name, std::string text, Position place, Position at,
                         MapPoint& point) const;
  Result<void> read_role(const toml::table& table, std::string_view key, model::Role role,
                         MapPoint& point);
  Result<void> read_conditions(const toml::table& table, MapPoint& point);
  Result<void> add_condition(std::string_view text, Position place, MapPoint& point) const;
  // map_spans.cpp
  Result<void> read_spans(const toml::table& top);
  Result<void> read_span(const toml::table& table);
  Result<void> read_span_places(const toml::table& table, MapPoint& begin, MapPoint& end);
  // map_queues.cpp
  Result<void> read_queues(const toml::table& top);
  Result<void> read_queue(const toml::table& table);
  Result<void> read_more_ids(const toml::table& table);
  Result<MapPoint> read_call(const toml::node& node, std::string_view key);
  // map_links.cpp
  Result<void> read_inherited(const toml::table& table, MapPoint& point);
  Result<void> read_lives(const toml::table& table, std::string_view key, model::Life what,
                          MapPoint& point);
  Result<void> read_link(const toml::table& table, const MapPoint& point);
  Result<void> join_links();
  Result<void> check_inherited() const;
  // map_releases.cpp
  Result<void> read_releases(const toml::table& top);
  Result<void> read_release(const toml::table& table);
  // map_file.cpp
  Result<void> read_programs(const toml::table& top);
  Result<std::string> text_of(const toml::node& value, std::string_view key) const;
  Result<model::Direction> unit_direction(const toml::table& table) const;
  Result<void> check_place(std::string_view key, const std::string& name,
                           const toml::node& node) const;
  template <typename Take>
  Result<void> read_names(const toml::table& table, std::string_view key, const Take& take) const;

  template <typename... Args>
  std::unexpected<Error> fail_at(Position place, fmt::format_string<Args...> format,
                                 Args&&... args) const {
    const std::size_t at = source_.offset_of(place);
    return source_.complain({at, at}, fmt::format(format, std::forward<Args>(args)...));
  }

  std::unexpected<Error> fail_unknown(Position place, std::string_view key, std::string_view name,
                                      const MapPoint& point) const;

  // A point, by its place among the map's, that says how it knows the unit that it continues.
  struct Taker {
    std::size_t point = 0;
    model::Link how = model::Link::kCall;
    Position place;
  };

  language::SourceText source_;
  Map map_;
  std::vector<Taker> takers_;
};

// The names in brackets that stand behind a key, and where.
template <typename Take>
Result<void> MapReader::read_names(const toml::table& table, std::string_view key,
                                   const Take& take) const {
  const toml::node* const names = table.get(key);
  if (names == nullptr) return {};
  const toml::array* const all = names->as_array();
  if (all == nullptr)
    return fail_at(place_of(names->source()), "{}: expected names in brackets, as in [\"sn\"]",
                   key);
  for (const toml::node& one : *all) {
    SJ_TRY(name, text_of(one, key));
    SJ_CHECK(take(std::move(name), place_of(one.source())));
  }
  return {};
}

}  // namespace sojourn::coarse
