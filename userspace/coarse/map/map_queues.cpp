// The tables [[queue]].
#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "analysis/filter/keywords.h"
#include "userspace/coarse/map/map_reader.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::coarse {

namespace {

const std::vector<std::string> kQueueWords = {"name",    "enqueue",   "dequeue",
                                              "library", "direction", "local"};

}  // namespace

Result<void> MapReader::read_queues(const toml::table& top) {
  const toml::node* const queues = top.get("queue");
  if (queues == nullptr) return {};
  if (!queues->is_array_of_tables())
    return fail_at(place_of(queues->source()), "queue: expected a line [[queue]] for each");
  if (queues->as_array()->size() > kMaxMapPoints)
    return fail_at(place_of(queues->source()), "more than {} queues", kMaxMapPoints);
  for (const toml::node& one : *queues->as_array()) SJ_CHECK(read_queue(*one.as_table()));
  return {};
}

// A queue makes two points: an item waits in it from put to get, identified by both addresses. A
// get from an empty queue returns null, or the queue itself, as the head of its own list.
Result<void> MapReader::read_queue(const toml::table& table) {
  std::array<std::string, 2> words;  // name, library
  constexpr std::array<std::string_view, 2> kKeys = {"name", "library"};
  for (const auto& [key, value] : table)
    if (std::ranges::find(kQueueWords, key.str()) == kQueueWords.end())
      return fail_at(place_of(key.source()), "'{}' means nothing here{}",
                     tracee::printable(key.str()),
                     filter::did_you_mean(std::string(key.str()), kQueueWords));
  for (std::size_t index = 0; index < kKeys.size(); ++index)
    if (const toml::node* const node = table.get(kKeys[index])) {
      SJ_TRY(word, text_of(*node, kKeys[index]));
      words[index] = std::move(word);
    }
  const auto& [name, library] = words;
  for (const char* needed : {"name", "enqueue", "dequeue"})
    if (table.get(needed) == nullptr)
      return fail_at(place_of(table.source()), "the queue has no {}", needed);
  SJ_TRY(direction, unit_direction(table));
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
  return read_more_ids(table);
}

// Further ids of an item for points that take from the queue: a field of either call.
Result<void> MapReader::read_more_ids(const toml::table& table) {
  const std::span ends(map_.points.end() - 2, map_.points.end());
  SJ_CHECK(read_names(table, "local", [&](const std::string& name, Position at) -> Result<void> {
    bool is_there = false;
    for (MapPoint& end : ends) {
      const auto field = std::ranges::find(end.fields, name, &MapField::name);
      if (field == end.fields.end()) continue;
      field->role = model::Role::kLocal;
      is_there = true;
    }
    if (!is_there)
      return fail_at(at, "local: neither call has a value '{}'", tracee::printable(name));
    return {};
  }));
  // Conditions refer to fields by index.
  for (MapPoint& end : ends) {
    std::vector<std::pair<std::string, std::string>> names;
    names.reserve(end.conditions.size());
    for (const MapCondition& condition : end.conditions)
      names.emplace_back(end.fields[condition.field].name,
                         condition.other ? end.fields[*condition.other].name : std::string());
    std::ranges::stable_sort(end.fields, {}, &MapField::role);
    const auto place = [&](const std::string& name) {
      return static_cast<std::size_t>(std::ranges::find(end.fields, name, &MapField::name) -
                                      end.fields.begin());
    };
    for (std::size_t at = 0; at < names.size(); ++at) {
      end.conditions[at].field = place(names[at].first);
      if (end.conditions[at].other) end.conditions[at].other = place(names[at].second);
    }
  }
  return {};
}

// "msgb_enqueue(arg0 = queue, arg1 = item)"
Result<MapPoint> MapReader::read_call(const toml::node& node, std::string_view key) {
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
    const auto offset = static_cast<std::size_t>(part.data() - text.data());
    return Position{.line = point.place.line, .column = point.place.column + 1 + offset};
  };
  std::string_view rest = whole.substr(open + 1, whole.size() - open - 2);
  while (!trimmed(rest).empty()) {
    const std::string_view one = trimmed(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(rest.size(), rest.find(',')));
    rest.remove_prefix(rest.empty() ? 0 : 1);
    const std::size_t equal = one.rfind('=');
    if (equal == std::string_view::npos)
      return fail_at(place_of_part(one), "{}: '{}' is no value with a name, as in 'arg0 = queue'",
                     key, tracee::printable(one));
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
    field->is_address = true;
  }
  std::ranges::stable_sort(point.fields, {}, &MapField::role);
  return point;
}

}  // namespace sojourn::coarse
