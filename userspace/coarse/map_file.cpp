#include "userspace/coarse/map_file.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include <toml++/toml.h>

#include "analysis/filter/words.h"
#include "userspace/base/fd.h"
#include "userspace/target/file_bytes.h"
#include "userspace/target/procfs.h"

namespace sojourn::coarse {

namespace {

constexpr std::size_t kMostBytes = 1 << 20;  // of a map
constexpr std::size_t kMostPoints = 4096;
// One is left for the bits of those that could not be read.
constexpr std::size_t kMostFields = model::kMaxFields - 1;

const std::vector<std::string> kTopWords = {"about", "point", "queue", "span"};
const std::vector<std::string> kPointWords = {"function", "library", "direction", "src",  "dest",
                                              "global",   "local",   "when",      "link", "inherit",
                                              "begins",   "ends",    "at"};
const std::vector<std::string> kSpanWords = {"function", "library", "name",   "direction",
                                             "src",      "dest",    "global", "local",
                                             "link",     "inherit"};
constexpr std::array<std::string_view, 3> kLinkWords = {"nesting", "order", "gather"};  // by Link
const std::vector<std::string> kQueueWords = {"name", "enqueue", "dequeue", "library", "direction"};

Place place_of(const toml::source_region& source) {
  return {.line = source.begin.line, .column = source.begin.column};
}

// What a function returns, as far as an expression begins with that.
constexpr std::string_view kResult = "ret";

bool is_of_result(const MapField& field) {
  return !field.is_inherited && field.expression.variable == kResult;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

constexpr model::Direction kNoDirection = model::Direction::kContext;

std::optional<model::Direction> direction_from(std::string_view letter) {
  const auto known = letter.size() == 1 ? model::direction_from_letter(letter[0])
                                        : std::optional<model::Direction>();
  return known && model::is_of_target(*known) ? known : std::nullopt;
}

class Reader {
 public:
  explicit Reader(const std::string& path) { map_.path = path; }

  Result<Map> read(std::string_view text);

 private:
  Result<void> read_points(const toml::table& top);
  Result<void> read_spans(const toml::table& top);
  Result<void> read_span(const toml::table& table);
  Result<void> read_span_places(const toml::table& table, MapPoint& begin, MapPoint& end);
  Result<void> check_place(std::string_view key, const std::string& name,
                           const toml::node& node) const;
  Result<void> read_function(const toml::table& table, std::string_view of, MapPoint& point);
  Result<void> read_at(const toml::table& table, MapPoint& point);
  Result<void> check_exit_field(const MapField& field) const;
  Result<void> read_queues(const toml::table& top);
  Result<void> read_queue(const toml::table& table);
  Result<MapPoint> read_call(const toml::node& node, std::string_view key);
  Result<void> read_conditions(const toml::table& table, MapPoint& point);
  Result<void> add_condition(std::string_view text, Place place, MapPoint& point) const;
  Result<void> check_field(const std::string& name, Place place, const MapPoint& point) const;
  Result<void> add_field(std::string name, std::string text, Place place, Place at,
                         MapPoint& point) const;
  Result<MapPoint> read_point(const toml::table& table);
  Result<void> read_inherited(const toml::table& table, MapPoint& point);
  Result<void> read_lives(const toml::table& table, std::string_view key, model::Life what,
                          MapPoint& point);
  Result<void> read_link(const toml::table& table, const MapPoint& point);
  Result<void> join_links();
  Result<void> check_inherited() const;
  template <typename Take>
  Result<void> read_names(const toml::table& table, std::string_view key, const Take& take) const;
  Result<void> read_place(const toml::table& table, MapPoint& point);
  Result<void> read_fields(const toml::table& table, MapPoint& point);
  Result<void> read_role(const toml::table& table, std::string_view key, model::Role role,
                         MapPoint& point);
  Result<std::string> text_of(const toml::node& value, std::string_view key) const;

  template <typename... Args>
  std::unexpected<Error> fail_at(Place place, fmt::format_string<Args...> format,
                                 Args&&... args) const {
    return fail("{}: {}", map_.at(place), fmt::format(format, std::forward<Args>(args)...));
  }

  std::unexpected<Error> fail_unknown(Place place, std::string_view key, std::string_view name,
                                      const MapPoint& point) const;

  // A point, by its place among the map's, that says how it knows the unit that it continues.
  struct Taker {
    std::size_t point = 0;
    model::Link how = model::Link::kCall;
    Place place;
  };

  Map map_;
  std::vector<Taker> takers_;
};

std::unexpected<Error> Reader::fail_unknown(Place place, std::string_view key,
                                            std::string_view name, const MapPoint& point) const {
  std::vector<std::string> known(point.fields.size());
  std::ranges::transform(point.fields, known.begin(), &MapField::name);
  return fail_at(place, "{}: the point has no field '{}'{}", key, target::printable(name),
                 filter::did_you_mean(std::string(name), known));
}

Result<Map> Reader::read(std::string_view text) {
  toml::table top;
  try {
    top = toml::parse(text, map_.path);
  } catch (const toml::parse_error& error) {
    return fail_at(place_of(error.source()), "{}", target::printable(error.description()));
  }
  for (const auto& [key, value] : top) {
    if (key.str() == "about") {
      SJ_TRY(about, text_of(value, "about"));
      map_.about = std::move(about);
    } else if (std::ranges::find(kTopWords, key.str()) == kTopWords.end()) {
      return fail_at(place_of(key.source()), "'{}' means nothing here{}",
                     target::printable(key.str()),
                     filter::did_you_mean(std::string(key.str()), kTopWords));
    }
  }
  SJ_CHECK(read_points(top));
  SJ_CHECK(read_queues(top));
  SJ_CHECK(read_spans(top));
  if (map_.points.empty())
    return fail("{}: holds no point: each begins with a line [[point]], [[queue]] or [[span]]",
                map_.path);
  SJ_CHECK(join_links());
  SJ_CHECK(check_inherited());
  return std::move(map_);
}

Result<void> Reader::read_points(const toml::table& top) {
  const toml::node* const points = top.get("point");
  if (points == nullptr) return {};
  if (!points->is_array_of_tables())
    return fail_at(place_of(points->source()), "point: expected a line [[point]] for each");
  const toml::array& all = *points->as_array();
  if (all.size() > kMostPoints)
    return fail_at(place_of(points->source()), "more than {} points", kMostPoints);
  for (const toml::node& one : all) {
    SJ_TRY(point, read_point(*one.as_table()));
    map_.points.push_back(std::move(point));
  }
  return {};
}

Result<std::string> Reader::text_of(const toml::node& value, std::string_view key) const {
  if (!value.is_string())
    return fail_at(place_of(value.source()), "{}: expected a text in quotes",
                   target::printable(key));
  return value.as_string()->get();
}

// `of`: what it is the function of.
Result<void> Reader::read_function(const toml::table& table, std::string_view of, MapPoint& point) {
  const toml::node* const function = table.get("function");
  if (function == nullptr) {
    std::string near;
    for (const auto& [key, value] : table)
      if (near.empty() && !filter::nearest(std::string(key.str()), {"function"}).empty())
        near = fmt::format(": is '{}' meant to be it?", target::printable(key.str()));
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

Result<void> Reader::read_at(const toml::table& table, MapPoint& point) {
  const toml::node* const at = table.get("at");
  if (at == nullptr) return {};
  SJ_TRY(word, text_of(*at, "at"));
  if (word != "entry" && word != "exit")
    return fail_at(place_of(at->source()), "at: expected \"entry\" or \"exit\"");
  point.is_exit = word == "exit";
  map_.needs_calls = map_.needs_calls || point.is_exit;
  return {};
}

// Where a function is left its arguments have gone.
Result<void> Reader::check_exit_field(const MapField& field) const {
  if (is_of_result(field)) return {};
  return fail_at(field.place,
                 "{}: where the function is left no more is known than 'ret', as in "
                 "\"*(u32*)(ret + 8)\"; the call's values are those that it inherits",
                 field.name);
}

Result<MapPoint> Reader::read_point(const toml::table& table) {
  MapPoint point;
  SJ_CHECK(read_function(table, "point", point));
  SJ_CHECK(read_at(table, point));
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

// The names in brackets that stand behind a key, and where.
template <typename Take>
Result<void> Reader::read_names(const toml::table& table, std::string_view key,
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

Result<void> Reader::read_inherited(const toml::table& table, MapPoint& point) {
  return read_names(table, "inherit", [&](std::string name, Place place) -> Result<void> {
    if (std::ranges::find(point.fields, name, &MapField::name) != point.fields.end())
      return fail_at(place, "inherit: the point has '{}' itself", target::printable(name));
    SJ_CHECK(check_field(name, place, point));
    point.fields.push_back({.name = std::move(name),
                            .role = model::Role::kProperty,
                            .text = {},
                            .expression = {},
                            .is_inherited = true,
                            .is_of_own_call = false,
                            .place = place});
    map_.needs_calls = true;
    return {};
  });
}

Result<void> Reader::read_lives(const toml::table& table, std::string_view key, model::Life what,
                                MapPoint& point) {
  return read_names(table, key, [&](std::string name, Place place) -> Result<void> {
    const auto field = std::ranges::find(point.fields, name, &MapField::name);
    if (field == point.fields.end()) return fail_unknown(place, key, name, point);
    if (field->role == model::Role::kProperty)
      return fail_at(place, "{}: '{}' is not among the point's ids", key, name);
    if (std::ranges::find(point.lives, name, &MapLife::field) != point.lives.end())
      return fail_at(place, "{}: what becomes of '{}' is said twice", key, name);
    point.lives.push_back({.field = std::move(name), .what = what});
    return {};
  });
}

Result<void> Reader::read_link(const toml::table& table, const MapPoint& point) {
  const toml::node* const link = table.get("link");
  if (link == nullptr) return {};
  const Place place = place_of(link->source());
  SJ_TRY(word, text_of(*link, "link"));
  const auto* const known = std::ranges::find(kLinkWords, word);
  if (known == kLinkWords.end())
    return fail_at(place, "link: expected \"nesting\", \"order\" or \"gather\"");
  if (point.direction != model::Direction::kDownlink &&
      point.direction != model::Direction::kUplink)
    return fail_at(place, "link: it is units that are followed, in direction \"D\" or \"U\"");
  takers_.push_back({.point = map_.points.size(),
                     .how = static_cast<model::Link>(known - kLinkWords.begin()),
                     .place = place});
  return {};
}

// Both ends of each link, by the places in which units are handed over.
Result<void> Reader::join_links() {
  const auto add = [](MapPoint& point, const MapLink& link) {
    if (std::ranges::find(point.links, link) == point.links.end()) point.links.push_back(link);
  };
  for (const Taker& taker : takers_) {
    MapPoint& child = map_.points[taker.point];
    bool is_fed = false;
    for (MapPoint& parent : map_.points) {
      const bool feeds = child.src == parent.dest || child.src.starts_with(parent.dest + ".");
      // A call that ends has no calls within it any more.
      const bool is_over = parent.is_exit && taker.how == model::Link::kCall;
      if (&parent == &child || parent.direction != child.direction || parent.dest.empty() ||
          !feeds || is_over)
        continue;
      is_fed = true;
      add(parent, {.how = taker.how, .place = parent.dest, .end = model::LinkEnd::kGives});
      add(child, {.how = taker.how, .place = parent.dest, .end = model::LinkEnd::kTakes});
    }
    if (!is_fed)
      return fail_at(taker.place, "link: no other point of the map leads to '{}'", child.src);
    map_.needs_calls = map_.needs_calls || taker.how == model::Link::kCall;
  }
  return {};
}

// Somebody must have what others inherit.
Result<void> Reader::check_inherited() const {
  for (const MapPoint& point : map_.points)
    for (const MapField& field : point.fields)
      if (field.is_inherited && std::ranges::none_of(map_.points, [&](const MapPoint& other) {
            return std::ranges::any_of(other.fields, [&](const MapField& one) {
              return one.name == field.name && !one.is_inherited;
            });
          }))
        return fail_at(field.place, "inherit: no point of the map has '{}' itself", field.name);
  return {};
}

// "item != queue", or several of them in brackets.
Result<void> Reader::read_conditions(const toml::table& table, MapPoint& point) {
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

Result<void> Reader::add_condition(std::string_view text, Place place, MapPoint& point) const {
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
  const auto number = right.starts_with("0x") ? target::parse_number(right.substr(2), 16)
                                              : target::parse_number(right);
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

Result<void> Reader::read_spans(const toml::table& top) {
  const toml::node* const spans = top.get("span");
  if (spans == nullptr) return {};
  if (!spans->is_array_of_tables())
    return fail_at(place_of(spans->source()), "span: expected a line [[span]] for each");
  if (spans->as_array()->size() > kMostPoints)
    return fail_at(place_of(spans->source()), "more than {} spans", kMostPoints);
  for (const toml::node& one : *spans->as_array()) SJ_CHECK(read_span(*one.as_table()));
  return {};
}

// Two points: where the function is entered, and where that call of it is left, with the same ids.
Result<void> Reader::read_span(const toml::table& table) {
  for (const auto& [key, value] : table)
    for (const std::string_view word : {"when", "begins", "ends", "at"})
      if (key.str() == word)
        return fail_at(place_of(key.source()), "'{}' means nothing for a span", word);
  MapPoint begin;
  SJ_CHECK(read_function(table, "span", begin));
  MapPoint end = begin;
  begin.part = Part::kSpanBegin;
  end.part = Part::kSpanEnd;
  end.is_exit = true;
  SJ_CHECK(read_span_places(table, begin, end));
  SJ_CHECK(read_fields(table, begin));
  const auto of_result = std::ranges::stable_partition(begin.fields, std::not_fn(is_of_result));
  std::ranges::move(of_result, std::back_inserter(end.fields));
  begin.fields.erase(of_result.begin(), of_result.end());
  SJ_CHECK(read_inherited(table, begin));
  SJ_CHECK(read_role(table, "global", model::Role::kGlobal, begin));
  SJ_CHECK(read_role(table, "local", model::Role::kLocal, begin));
  std::ranges::stable_sort(begin.fields, {}, &MapField::role);
  for (const MapField& field : begin.fields)
    if (field.role != model::Role::kProperty)
      end.fields.push_back({.name = field.name,
                            .role = field.role,
                            .text = {},
                            .expression = {},
                            .is_inherited = true,
                            .is_of_own_call = !field.is_inherited,
                            .place = field.place});
  SJ_CHECK(read_link(table, begin));
  map_.needs_calls = true;
  map_.points.push_back(std::move(begin));
  map_.points.push_back(std::move(end));
  return {};
}

// Those without a name are told apart by their functions' names, once these are found.
Result<void> Reader::read_span_places(const toml::table& table, MapPoint& begin, MapPoint& end) {
  std::array<std::string, 4> words;  // name, direction, src, dest
  constexpr std::array<const char*, 4> kKeys = {"name", "direction", "src", "dest"};
  for (std::size_t index = 0; index < kKeys.size(); ++index)
    if (const toml::node* const node = table.get(kKeys[index])) {
      SJ_TRY(word, text_of(*node, kKeys[index]));
      words[index] = std::move(word);
      if (index != 1) SJ_CHECK(check_place(kKeys[index], words[index], *node));
    }
  auto& [name, letter, src, dest] = words;
  const auto direction = table.get("direction") == nullptr
                             ? model::Direction::kDownlink
                             : direction_from(letter).value_or(kNoDirection);
  if (direction != model::Direction::kDownlink && direction != model::Direction::kUplink)
    return fail_at(place_of(table.get("direction")->source()),
                   "direction: expected \"D\" or \"U\"");
  begin.direction = direction;
  end.direction = direction;
  begin.src = src.empty() && !name.empty() ? "call." + name : src;
  end.dest = dest.empty() && !name.empty() ? "done." + name : dest;
  begin.dest = name;
  end.src = name;
  return {};
}

Result<void> Reader::read_queues(const toml::table& top) {
  const toml::node* const queues = top.get("queue");
  if (queues == nullptr) return {};
  if (!queues->is_array_of_tables())
    return fail_at(place_of(queues->source()), "queue: expected a line [[queue]] for each");
  if (queues->as_array()->size() > kMostPoints)
    return fail_at(place_of(queues->source()), "more than {} queues", kMostPoints);
  for (const toml::node& one : *queues->as_array()) SJ_CHECK(read_queue(*one.as_table()));
  return {};
}

Result<void> Reader::check_place(std::string_view key, const std::string& name,
                                 const toml::node& node) const {
  const auto place = model::parse_point(fmt::format("D {}--x", name), "");
  if (place && place->src == name) return {};
  return fail_at(place_of(node.source()), "{}: '{}' is no name of a place", key,
                 target::printable(name));
}

// Two points: what is put in waits in the queue until it is got out, known by both addresses. What
// is got out of an empty one is nothing, or the queue itself, as the head of its own list.
Result<void> Reader::read_queue(const toml::table& table) {
  std::array<std::string, 3> words;  // name, library, direction
  constexpr std::array<std::string_view, 3> kKeys = {"name", "library", "direction"};
  for (const auto& [key, value] : table)
    if (std::ranges::find(kQueueWords, key.str()) == kQueueWords.end())
      return fail_at(place_of(key.source()), "'{}' means nothing here{}",
                     target::printable(key.str()),
                     filter::did_you_mean(std::string(key.str()), kQueueWords));
  for (std::size_t index = 0; index < kKeys.size(); ++index)
    if (const toml::node* const node = table.get(kKeys[index])) {
      SJ_TRY(word, text_of(*node, kKeys[index]));
      words[index] = std::move(word);
    }
  const auto& [name, library, letter] = words;
  for (const char* needed : {"name", "enqueue", "dequeue"})
    if (table.get(needed) == nullptr)
      return fail_at(place_of(table.source()), "the queue has no {}", needed);
  const auto direction = table.get("direction") == nullptr
                             ? model::Direction::kDownlink
                             : direction_from(letter).value_or(kNoDirection);
  if (direction != model::Direction::kDownlink && direction != model::Direction::kUplink)
    return fail_at(place_of(table.get("direction")->source()),
                   "direction: expected \"D\" or \"U\"");
  SJ_CHECK(check_place("name", name, *table.get("name")));
  for (const char* key : {"enqueue", "dequeue"}) {
    const toml::node& value = *table.get(key);
    SJ_TRY(point, read_call(value, key));
    const bool is_put = std::string_view(key) == "enqueue";
    point.library = library;
    point.direction = direction;
    point.src = is_put ? "put." + name : name;
    point.dest = is_put ? name : "got." + name;
    if (!is_put) {
      SJ_CHECK(add_condition("item != queue", point.place, point));
      SJ_CHECK(add_condition("item != 0", point.place, point));
    }
    map_.points.push_back(std::move(point));
  }
  return {};
}

// "msgb_enqueue(arg0 = queue, arg1 = item)"
Result<MapPoint> Reader::read_call(const toml::node& node, std::string_view key) {
  SJ_TRY(text, text_of(node, key));
  MapPoint point;
  point.place = place_of(node.source());
  const std::string_view whole = trimmed(text);
  std::size_t open = whole.size();
  for (int depth = 0; whole.ends_with(')') && open > 0;) {
    --open;
    if (whole[open] == ')') ++depth;
    if (whole[open] == '(' && --depth == 0) break;
  }
  point.function = trimmed(whole.substr(0, open));
  if (!whole.ends_with(')') || point.function.empty())
    return fail_at(point.place, "{}: expected a call, as in \"put(arg0 = queue, arg1 = item)\"",
                   key);
  // Behind the quote.
  const auto place_of_part = [&](std::string_view part) {
    const auto offset = static_cast<std::uint32_t>(part.data() - text.data());
    return Place{.line = point.place.line, .column = point.place.column + 1 + offset};
  };
  std::string_view rest = whole.substr(open + 1, whole.size() - open - 2);
  while (!trimmed(rest).empty()) {
    const std::string_view one = trimmed(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(rest.size(), rest.find(',')));
    rest.remove_prefix(rest.empty() ? 0 : 1);
    const std::size_t equal = one.rfind('=');
    if (equal == std::string_view::npos)
      return fail_at(place_of_part(one), "{}: '{}' is no value with a name, as in 'arg0 = queue'",
                     key, target::printable(one));
    const std::string_view value = trimmed(one.substr(0, equal));
    const std::string_view name = trimmed(one.substr(equal + 1));
    if (std::ranges::find(point.fields, name, &MapField::name) != point.fields.end())
      return fail_at(place_of_part(name), "{}: '{}' is named twice", key, name);
    SJ_CHECK(add_field(std::string(name), std::string(value), place_of_part(name),
                       place_of_part(value), point));
  }
  for (const char* needed : {"queue", "item"}) {
    const auto field = std::ranges::find(point.fields, needed, &MapField::name);
    if (field == point.fields.end())
      return fail_at(point.place, "{}: nothing in it is named '{}'", key, needed);
    field->role = model::Role::kLocal;
  }
  std::ranges::stable_sort(point.fields, {}, &MapField::role);
  return point;
}

Result<void> Reader::read_place(const toml::table& table, MapPoint& point) {
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
    return fail_at(place_of(nodes[1]->source()), "{}", target::printable(checked.error().text()));
  return {};
}

Result<void> Reader::read_fields(const toml::table& table, MapPoint& point) {
  for (const auto& [key, value] : table) {
    const auto& words = point.part == Part::kPoint ? kPointWords : kSpanWords;
    if (std::ranges::find(words, key.str()) != words.end()) continue;
    const Place place = place_of(value.source());
    if (!value.is_string())
      return fail_at(place, "{}: expected an expression in quotes, as in \"arg1\"",
                     target::printable(key.str()));
    // The expression is behind the quote.
    SJ_CHECK(add_field(std::string(key.str()), value.as_string()->get(), place_of(key.source()),
                       {.line = place.line, .column = place.column + 1}, point));
  }
  // The table's own order is that of the alphabet.
  std::ranges::sort(point.fields, {}, [](const MapField& field) {
    return std::pair(field.place.line, field.place.column);
  });
  return {};
}

// Whether the point can have one more, of that name.
Result<void> Reader::check_field(const std::string& name, Place place,
                                 const MapPoint& point) const {
  const model::Point trial{.direction = model::Direction::kScalar,
                           .src = "x",
                           .dest = {},
                           .fields = {{.name = name}},
                           .file = {}};
  if (!model::check(trial) || model::is_reserved(name))
    return fail_at(place, "'{}' is no name for a field", target::printable(name));
  if (point.fields.size() == kMostFields) return fail_at(place, "more than {} fields", kMostFields);
  return {};
}

// `place`: of its name; `at`: of its expression.
Result<void> Reader::add_field(std::string name, std::string text, Place place, Place at,
                               MapPoint& point) const {
  SJ_CHECK(check_field(name, place, point));
  auto expression = parse_expression(text);
  if (!expression) {
    at.column += static_cast<std::uint32_t>(expression.error().at);
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

Result<void> Reader::read_role(const toml::table& table, std::string_view key, model::Role role,
                               MapPoint& point) {
  return read_names(table, key, [&](const std::string& name, Place place) -> Result<void> {
    const auto field = std::ranges::find(point.fields, name, &MapField::name);
    if (field == point.fields.end()) return fail_unknown(place, key, name, point);
    if (field->role != model::Role::kProperty)
      return fail_at(place, "'{}' is named among the ids twice", name);
    field->role = role;
    return {};
  });
}

}  // namespace

std::string Map::at(Place place) const {
  return fmt::format("{}:{}:{}", path, place.line, place.column);
}

Result<Map> parse_map(std::string_view text, const std::string& path) {
  return Reader(path).read(text);
}

Result<Map> read_map(const std::string& path) {
  base::Fd file;
  SJ_TRY(bytes, target::open_regular(path, file));
  if (bytes > kMostBytes)
    return fail("{}: {} bytes: a map has at most {}", path, bytes, kMostBytes);
  std::string text(bytes, '\0');
  if (!target::read_fully(file.get(), 0, std::as_writable_bytes(std::span(text))))
    return fail_errno("read {}", path);
  return parse_map(text, path);
}

}  // namespace sojourn::coarse
