// The tables [[span]].
#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <utility>

#include "userspace/coarse/map/map_reader.h"

namespace sojourn::coarse {

namespace {

// Divides the fields of a span between its two points: the end has the fields that are known only
// there, and the ids of its own call. The life of an address begins as soon as it is known, and
// ends with the call.
void share(MapPoint& begin, MapPoint& end) {
  const auto of_result = std::ranges::stable_partition(begin.fields, std::not_fn(is_of_result));
  std::ranges::move(of_result, std::back_inserter(end.fields));
  begin.fields.erase(of_result.begin(), of_result.end());
  std::ranges::stable_sort(begin.fields, {}, &MapField::role);
  const auto is_of_begin = [&](const MapLife& life) {
    return life.what == model::Life::kBegins &&
           std::ranges::find(begin.fields, life.field, &MapField::name) != begin.fields.end();
  };
  const auto later = std::ranges::stable_partition(begin.lives, is_of_begin);
  std::ranges::move(later, std::back_inserter(end.lives));
  begin.lives.erase(later.begin(), later.end());
  for (const MapField& field : begin.fields)
    if (field.role != model::Role::kProperty)
      end.fields.push_back({.name = field.name,
                            .role = field.role,
                            .text = {},
                            .expression = {},
                            .is_inherited = true,
                            .is_of_own_call = !field.is_inherited,
                            .place = field.place});
  std::ranges::stable_sort(end.fields, {}, &MapField::role);
}

}  // namespace

Result<void> MapReader::read_spans(const toml::table& top) {
  const toml::node* const spans = top.get("span");
  if (spans == nullptr) return {};
  if (!spans->is_array_of_tables())
    return fail_at(place_of(spans->source()), "span: expected a line [[span]] for each");
  if (spans->as_array()->size() > kMaxMapPoints)
    return fail_at(place_of(spans->source()), "more than {} spans", kMaxMapPoints);
  for (const toml::node& one : *spans->as_array()) SJ_CHECK(read_span(*one.as_table()));
  return {};
}

// A span makes two points: at the function's entry, and at the exit of that call.
Result<void> MapReader::read_span(const toml::table& table) {
  for (const auto& [key, value] : table)
    if (key.str() == "at" || key.str() == "when")
      return fail_at(place_of(key.source()), "'{}' means nothing for a span{}", key.str(),
                     key.str() == "at"
                         ? ""
                         : ": its end cannot tell whether the call's beginning counted. A point "
                           "with at = \"exit\" can have it; 'sojourn report --where' takes some "
                           "of all calls");
  MapPoint begin;
  SJ_CHECK(read_function(table, "span", begin));
  SJ_CHECK(read_optional(table, begin));
  SJ_CHECK(read_known_releases(table, "only_in", begin.only_in));
  SJ_CHECK(read_known_releases(table, "not_in", begin.not_in));
  MapPoint end = begin;
  begin.part = SpanPart::kSpanBegin;
  end.part = SpanPart::kSpanEnd;
  end.is_exit = true;
  SJ_CHECK(read_span_places(table, begin, end));
  SJ_CHECK(read_fields(table, begin));
  SJ_CHECK(read_inherited(table, begin));
  SJ_CHECK(read_role(table, "global", model::Role::kGlobal, begin));
  SJ_CHECK(read_role(table, "local", model::Role::kLocal, begin));
  SJ_CHECK(read_lives(table, "begins", model::Life::kBegins, begin));
  SJ_CHECK(read_lives(table, "ends", model::Life::kEnds, begin));
  SJ_CHECK(read_link(table, begin));
  share(begin, end);
  map_.needs_calls = true;
  map_.points.push_back(std::move(begin));
  map_.points.push_back(std::move(end));
  return {};
}

// Spans without a name get the names of their functions, once those are found.
Result<void> MapReader::read_span_places(const toml::table& table, MapPoint& begin, MapPoint& end) {
  std::array<std::string, 3> words;  // name, src, dest
  constexpr std::array<const char*, 3> kKeys = {"name", "src", "dest"};
  for (std::size_t index = 0; index < kKeys.size(); ++index)
    if (const toml::node* const node = table.get(kKeys[index])) {
      SJ_TRY(word, text_of(*node, kKeys[index]));
      words[index] = std::move(word);
      SJ_CHECK(check_place(kKeys[index], words[index], *node));
    }
  const auto& [name, src, dest] = words;
  SJ_TRY(direction, unit_direction(table));
  begin.direction = direction;
  end.direction = direction;
  begin.src = src.empty() && !name.empty() ? "call." + name : src;
  end.dest = dest.empty() && !name.empty() ? "done." + name : dest;
  begin.dest = name;
  end.src = name;
  return {};
}

}  // namespace sojourn::coarse
