// The tables [[point]], and what spans have in common with them.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/filter/keywords.h"
#include "userspace/coarse/map/map_reader.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::coarse {

namespace {

// One field is reserved for the bits of values that could not be read.
constexpr std::size_t kMaxMapFields = model::kMaxFields - 1;

const std::vector<std::string> kPointWords = {
    "function", "library", "direction", "src",  "dest", "global",   "local",   "when",
    "link",     "inherit", "begins",    "ends", "at",   "optional", "only_in", "not_in"};
const std::vector<std::string> kSpanWords = {
    "function", "library", "name",   "direction", "src",      "dest",    "global", "local",
    "link",     "inherit", "begins", "ends",      "optional", "only_in", "not_in"};

}  // namespace

bool is_of_result(const MapField& field) {
  return !field.is_inherited && field.expression.variable == "ret";
}

Result<void> MapReader::read_points(const toml::table& top) {
  const toml::node* const points = top.get("point");
  if (points == nullptr) return {};
  if (!points->is_array_of_tables())
    return fail_at(place_of(points->source()), "point: expected a line [[point]] for each");
  const toml::array& all = *points->as_array();
  if (all.size() > kMaxMapPoints)
    return fail_at(place_of(points->source()), "more than {} points", kMaxMapPoints);
  for (const toml::node& one : all) {
    SJ_TRY(point, read_point(*one.as_table()));
    map_.points.push_back(std::move(point));
  }
  return {};
}

// `of`: the kind of table, for errors.
Result<void> MapReader::read_function(const toml::table& table, std::string_view of,
                                      MapPoint& point) {
  const toml::node* const function = table.get("function");
  if (function == nullptr) {
    std::string near;
    for (const auto& [key, value] : table)
      if (near.empty() && !filter::nearest(std::string(key.str()), {"function"}).empty())
        near = fmt::format(": is '{}' meant to be it?", tracee::printable(key.str()));
    return fail_at(place_of(table.source()), "the {} has no function{}", of, near);
  }
  SJ_TRY(name, text_of(*function, "function"));
  point.function = std::move(name);
  point.place = place_of(function->source());
  if (point.function.empty()) return fail_at(point.place, "function: expected a name");
  if (const toml::node* const library = table.get("library")) {
    SJ_TRY(glob, text_of(*library, "library"));
    point.library = std::move(glob);
  }
  return {};
}

Result<void> MapReader::read_at(const toml::table& table, MapPoint& point) {
  const toml::node* const at = table.get("at");
  if (at == nullptr) return {};
  SJ_TRY(word, text_of(*at, "at"));
  if (word != "entry" && word != "exit")
    return fail_at(place_of(at->source()), "at: expected \"entry\" or \"exit\"");
  point.is_exit = word == "exit";
  map_.needs_calls = map_.needs_calls || point.is_exit;
  return {};
}

Result<void> MapReader::read_optional(const toml::table& table, MapPoint& point) {
  const toml::node* const optional = table.get("optional");
  if (optional == nullptr) return {};
  const auto value = optional->value_exact<bool>();
  if (!value) return fail_at(place_of(optional->source()), "optional: expected true or false");
  point.is_optional = *value;
  return {};
}

Result<void> MapReader::read_known_releases(const toml::table& table, std::string_view key,
                                            std::vector<std::string>& names) const {
  return read_names(table, key, [&](std::string name, Position place) -> Result<void> {
    if (std::ranges::find(map_.releases, name, &MapRelease::name) == map_.releases.end()) {
      std::vector<std::string> known(map_.releases.size());
      std::ranges::transform(map_.releases, known.begin(), &MapRelease::name);
      return fail_at(place, "{}: the map has no release '{}'{}", key, tracee::printable(name),
                     filter::did_you_mean(name, known));
    }
    names.push_back(std::move(name));
    return {};
  });
}

// At a function's exit its arguments are gone.
Result<void> MapReader::check_exit_field(const MapField& field) const {
  if (is_of_result(field)) return {};
  return fail_at(field.place,
                 "{}: where the function is left no more is known than 'ret', as in "
                 "\"*(u32*)(ret + 8)\"; the call's values are those that it inherits",
                 field.name);
}

Result<MapPoint> MapReader::read_point(const toml::table& table) {
  MapPoint point;
  SJ_CHECK(read_function(table, "point", point));
  SJ_CHECK(read_at(table, point));
  SJ_CHECK(read_optional(table, point));
  SJ_CHECK(read_known_releases(table, "only_in", point.only_in));
  SJ_CHECK(read_known_releases(table, "not_in", point.not_in));
  SJ_CHECK(read_place(table, point));
  SJ_CHECK(read_fields(table, point));
  for (const MapField& field : point.fields)
    if (point.is_exit) SJ_CHECK(check_exit_field(field));
  SJ_CHECK(read_inherited(table, point));
  SJ_CHECK(read_role(table, "global", model::Role::kGlobal, point));
  SJ_CHECK(read_role(table, "local", model::Role::kLocal, point));
  std::ranges::stable_sort(point.fields, {}, &MapField::role);
  SJ_CHECK(read_conditions(table, point));
  SJ_CHECK(read_lives(table, "begins", model::Life::kBegins, point));
  SJ_CHECK(read_lives(table, "ends", model::Life::kEnds, point));
  SJ_CHECK(read_link(table, point));
  return point;
}

Result<void> MapReader::read_place(const toml::table& table, MapPoint& point) {
  std::array<std::string, 3> words;  // direction, src, dest
  std::array<const toml::node*, 3> nodes{};
  constexpr std::array<std::string_view, 3> kKeys = {"direction", "src", "dest"};
  for (std::size_t index = 0; index < kKeys.size(); ++index) {
    nodes[index] = table.get(kKeys[index]);
    if (nodes[index] == nullptr) continue;
    SJ_TRY(word, text_of(*nodes[index], kKeys[index]));
    words[index] = std::move(word);
  }
  auto& [direction, src, dest] = words;
  if (nodes[0] != nullptr) {
    const auto known = direction_from(direction);
    if (!known)
      return fail_at(place_of(nodes[0]->source()),
                     "direction: expected \"D\", \"U\", \"I\" or \"S\"");
    point.direction = *known;
  }
  if (nodes[2] != nullptr && nodes[0] == nullptr)
    return fail_at(place_of(nodes[2]->source()),
                   "dest: which direction? Give direction = \"D\" or \"U\"");
  if (src.empty() && (nodes[0] != nullptr || nodes[2] != nullptr))
    return fail_at(place_of((nodes[0] != nullptr ? nodes[0] : nodes[2])->source()),
                   "the point has no src: where does its unit come from?");
  point.src = std::move(src);
  point.dest = std::move(dest);
  if (point.src.empty()) return {};
  auto checked =
      model::parse_point(fmt::format("{} {}{}{}", model::letter(point.direction), point.src,
                                     point.dest.empty() ? "" : "--", point.dest),
                         "");
  if (!checked)
    return fail_at(place_of(nodes[1]->source()), "{}", tracee::printable(checked.error().text()));
  return {};
}

Result<void> MapReader::read_fields(const toml::table& table, MapPoint& point) {
  const auto& words = point.part == SpanPart::kPoint ? kPointWords : kSpanWords;
  // The table itself is ordered by the alphabet.
  std::vector<std::pair<const toml::key*, const toml::node*>> fields;
  for (const auto& [key, value] : table)
    if (std::ranges::find(words, key.str()) == words.end()) fields.emplace_back(&key, &value);
  std::ranges::sort(fields, {}, [](const auto& field) {
    const Position place = place_of(field.first->source());
    return std::pair(place.line, place.column);
  });
  for (const auto& [key, value] : fields) {
    const Position place = place_of(value->source());
    if (!value->is_string())
      return fail_at(place, "{}: expected an expression in quotes, as in \"arg1\"",
                     tracee::printable(key->str()));
    // The expression is behind the quote.
    SJ_CHECK(add_field(std::string(key->str()), value->as_string()->get(), place_of(key->source()),
                       {.line = place.line, .column = place.column + 1}, point));
  }
  return {};
}

// Checks that the point can have one more field, of that name.
Result<void> MapReader::check_field(const std::string& name, Position place,
                                    const MapPoint& point) const {
  const model::Point trial{.direction = model::Direction::kScalar,
                           .src = "x",
                           .dest = {},
                           .fields = {{.name = name}},
                           .file = {}};
  if (!model::check(trial) || model::is_reserved(name))
    return fail_at(place, "'{}' is no name for a field", tracee::printable(name));
  if (point.fields.size() == kMaxMapFields)
    return fail_at(place, "more than {} fields", kMaxMapFields);
  return {};
}

// `place`: of its name; `at`: of its expression.
Result<void> MapReader::add_field(std::string name, std::string text, Position place, Position at,
                                  MapPoint& point) const {
  SJ_CHECK(check_field(name, place, point));
  auto expression = parse_expression(text);
  if (!expression) {
    at.column += expression.error().at;
    return fail_at(at, "{}: {}", name, expression.error().what);
  }
  point.fields.push_back({.name = std::move(name),
                          .role = model::Role::kProperty,
                          .text = std::move(text),
                          .expression = std::move(*expression),
                          .is_inherited = false,
                          .is_of_own_call = false,
                          .place = place});
  return {};
}

Result<void> MapReader::read_role(const toml::table& table, std::string_view key, model::Role role,
                                  MapPoint& point) {
  return read_names(table, key, [&](const std::string& name, Position place) -> Result<void> {
    const auto field = std::ranges::find(point.fields, name, &MapField::name);
    if (field == point.fields.end()) return fail_unknown(place, key, name, point);
    if (field->role != model::Role::kProperty)
      return fail_at(place, "'{}' is named among the ids twice", name);
    field->role = role;
    return {};
  });
}

// "item != queue", or several of them in brackets.
Result<void> MapReader::read_conditions(const toml::table& table, MapPoint& point) {
  const toml::node* const when = table.get("when");
  if (when == nullptr) return {};
  if (const toml::array* const all = when->as_array()) {
    for (const toml::node& one : *all) {
      SJ_TRY(text, text_of(one, "when"));
      SJ_CHECK(add_condition(text, place_of(one.source()), point));
    }
    return {};
  }
  SJ_TRY(text, text_of(*when, "when"));
  return add_condition(text, place_of(when->source()), point);
}

Result<void> MapReader::add_condition(std::string_view text, Position place,
                                      MapPoint& point) const {
  const std::size_t at = std::min(text.find("=="), text.find("!="));
  if (at == std::string_view::npos)
    return fail_at(place, "when: expected '==' or '!=' between a field and another, or a number");
  if (point.conditions.size() == SJ_MAX_TESTS)
    return fail_at(place, "when: more than {} conditions", SJ_MAX_TESTS);
  const auto field_named = [&](std::string_view name) -> std::optional<std::size_t> {
    const auto found = std::ranges::find(point.fields, name, &MapField::name);
    if (found == point.fields.end()) return std::nullopt;
    return static_cast<std::size_t>(found - point.fields.begin());
  };
  const std::string_view left = trimmed(text.substr(0, at));
  const std::string_view right = trimmed(text.substr(at + 2));
  const auto field = field_named(left);
  const auto other = field_named(right);
  const auto number = right.starts_with("0x") ? tracee::parse_number(right.substr(2), 16)
                                              : tracee::parse_number(right);
  if (!field || (!other && !number))
    return fail_unknown(place, "when", field ? right : left, point);
  for (const auto& one : {field, other})
    if (one && point.fields[*one].is_inherited)
      return fail_at(place, "when: '{}' is inherited, which is known only when the trace is read",
                     point.fields[*one].name);
  point.conditions.push_back({.field = *field,
                              .other = other,
                              .number = other ? 0 : *number,
                              .is_equal = text[at] == '='});
  return {};
}

}  // namespace sojourn::coarse
