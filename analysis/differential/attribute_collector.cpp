#include "analysis/differential/attribute_collector.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/filter/keywords.h"
#include "analysis/model/unread.h"
#include "analysis/model/value_text.h"
#include "analysis/statistics/distribution.h"
#include "analysis/statistics/slow_from.h"

namespace sojourn::differential {
namespace {

using journeys::Journey;
using journeys::Step;

std::string count_label(std::uint32_t count, std::uint32_t most) {
  return count < most ? std::to_string(count) : fmt::format("{} or more", most);
}

template <typename Value>
std::vector<Value> in_order(const std::vector<Value>& values,
                            const std::vector<std::uint32_t>& order) {
  std::vector<Value> ordered;
  ordered.reserve(order.size());
  for (const std::uint32_t at : order) ordered.push_back(values[at]);
  return ordered;
}

std::string field_word(const std::string& name) {
  const bool is_plain = filter::find_keyword(name) == nullptr && !name.contains('-');
  return is_plain ? name : fmt::format("field({})", name);
}

// Quotes a name so that the filter language reads it back; nothing if no quote fits.
std::optional<std::string> quoted(const std::string& name) {
  for (const char quote : {'\'', '"'})
    if (!name.contains(quote)) return quote + name + quote;
  return std::nullopt;
}

}  // namespace

AttributeCollector::AttributeCollector(const About& about, IsSlow is_slow)
    : about_(about), is_slow_(std::move(is_slow)) {
  for (const model::Stream& stream : about.streams) cpus_[stream.id] = stream.cpu;
  for (const model::Point& point : about.schema.points) {
    const auto name = quoted(fmt::format("{} {}", letter(point.direction), point.name()));
    point_conditions_.push_back(name ? "point == " + *name : std::string());
    point_names_.push_back(point.name());
    unread_.push_back(model::unread_field(point));
  }
  for (Rows& rows : rows_) rows.at_points = points_with_ids();
}

std::vector<AttributeCollector::AtPoint> AttributeCollector::points_with_ids() const {
  const auto& bearers = journeys::Rules::kBearers;
  std::vector<AtPoint> at_points;
  for (const model::Point& point : about_.schema.points) {
    AtPoint& at = at_points.emplace_back();
    for (std::size_t field = 0; field < point.fields.size(); ++field) {
      const model::Field& about = point.fields[field];
      const bool is_bearer = about.role != model::Role::kProperty &&
                             std::ranges::find(bearers, about.name) != bearers.end();
      if (about.role == model::Role::kGlobal || is_bearer)
        at.ids.push_back({.field = field, .numbers = {}});
    }
  }
  return at_points;
}

AttributeCollector::Column& AttributeCollector::column_of(Rows& rows, const std::string& name) {
  Column& column = rows.columns[name];
  column.name = name;
  return column;
}

template <typename Condition>
bool AttributeCollector::set(Rows& rows, const std::string& name, std::string value,
                             const Condition& condition) {
  return put(column_of(rows, name), rows.start_ns.size() - 1, std::move(value), condition);
}

// Sets the value that a number stands for: `name`, `text` and `condition` are called only for one
// that is not remembered.
template <typename Name, typename Text, typename Condition>
void AttributeCollector::set_number(Rows& rows, Numbers& numbers, const Name& name,
                                    std::uint64_t number, const Text& text,
                                    const Condition& condition) {
  if (numbers.column == nullptr) numbers.column = &column_of(rows, name());
  Column& column = *numbers.column;
  const std::size_t row = rows.start_ns.size() - 1;
  if (column.of.size() <= row) column.of.resize(row + 1, kNoValue);
  if (column.of[row] != kNoValue) return;  // the first one counts
  if (const auto known = numbers.index.find(number); known != numbers.index.end()) {
    column.of[row] = known->second;
    return;
  }
  put(column, row, text(), condition);
  if (numbers.index.size() < Numbers::kMost) numbers.index.emplace(number, column.of[row]);
}

template <typename Condition>
bool AttributeCollector::put(Column& column, std::size_t row, std::string value,
                             const Condition& condition) {
  if (column.of.size() <= row) column.of.resize(row + 1, kNoValue);
  if (column.of[row] != kNoValue) return false;  // the first one counts
  const bool is_other = column.values.size() >= kMaxValues && !column.known.contains(value);
  if (is_other) value = "other";
  const auto [known, is_new] =
      column.known.try_emplace(value, static_cast<std::uint32_t>(column.values.size()));
  if (is_new) {
    column.values.push_back(std::move(value));
    column.conditions.push_back(is_other ? std::string() : condition());
  }
  column.of[row] = known->second;
  return is_new;
}

void AttributeCollector::note_cause(model::Direction direction, std::uint64_t journey,
                                    std::string cause) {
  Rows& rows = rows_[index_of(direction)];
  const auto row = rows.unexplained.find(journey);
  if (row == rows.unexplained.end()) return;
  Column& column = rows.columns["cause"];
  column.name = "cause";
  put(column, row->second, std::move(cause), [] { return std::string(); });
  rows.unexplained.erase(row);
}

void AttributeCollector::note_ids(Rows& rows, const Step& step) {
  const model::Point& point = about_.schema.points[step.point];
  const std::uint64_t unread = model::unread_bits(unread_[step.point], step.values);
  for (Id& id : rows.at_points[step.point].ids) {
    if (id.field >= step.values.size()) continue;
    const std::string& name = point.fields[id.field].name;
    if ((unread >> id.field & 1) != 0) {
      set(rows, name, model::value_text(point, id.field, step.values),
          [] { return std::string(); });
      continue;
    }
    const auto text = [&] { return model::value_text(point, id.field, step.values); };
    set_number(
        rows, id.numbers, [&] { return name; }, step.values[id.field], text,
        [&] { return fmt::format("{} == {}", field_word(name), text()); });
  }
}

void AttributeCollector::note_length(Rows& rows, const Step& own) {
  const auto& length = about_.topology.points[own.point].length;
  if (!length || *length >= own.values.size()) return;
  const std::string label = power_of_two_label(own.values[*length]);
  set(rows, "bytes", label, [&] {
    const std::string& point = point_conditions_[own.point];
    const std::string& field = about_.schema.points[own.point].fields[*length].name;
    return point.empty() ? point
                         : fmt::format("event({} && {} in {}..{})", point, field_word(field),
                                       label.substr(0, label.find('.')),
                                       label.substr(label.find_last_of('.') + 1));
  });
}

std::string AttributeCollector::condition_at(const Step& step, std::string_view word,
                                             std::int64_t number) const {
  const std::string& point = point_conditions_[step.point];
  return point.empty() ? point : fmt::format("event({} && {} == {})", point, word, number);
}

void AttributeCollector::note_thread(Rows& rows, const Step& step) {
  if (step.tid == 0) return;
  const auto text = [&] {
    const auto thread = about_.thread_names.find(step.tid);
    return thread == about_.thread_names.end() ? std::to_string(step.tid)
                                               : fmt::format("{} {}", thread->second, step.tid);
  };
  set_number(
      rows, rows.at_points[step.point].threads,
      [&] { return "thread at " + point_names_[step.point]; }, step.tid, text,
      [&] { return condition_at(step, "tid", step.tid); });
}

void AttributeCollector::note_cpu(Rows& rows, const Step& step) {
  const auto found = cpus_.find(step.stream);
  if (found == cpus_.end() || found->second < 0) return;
  const std::int32_t cpu = found->second;
  set_number(
      rows, rows.at_points[step.point].cpus, [&] { return "cpu at " + point_names_[step.point]; },
      static_cast<std::uint64_t>(cpu), [&] { return std::to_string(cpu); },
      [&] { return condition_at(step, "cpu", cpu); });
}

void AttributeCollector::note_repeats(Rows& rows, const Journey& journey) {
  const auto note = [&](const std::string& name, std::string_view expression, std::uint32_t count,
                        std::uint32_t most) {
    set(rows, name, count_label(count, most), [&] {
      return fmt::format("{} {} {}", expression, count < most ? "==" : ">=", std::min(count, most));
    });
  };
  note("segments", "segments", journey.segments, 4);
  note("RLC repeats", "retransmissions - harq_retransmissions",
       journey.retransmissions - journey.harq_retransmissions, 3);
  note("HARQ repeats", "harq_retransmissions", journey.harq_retransmissions, 3);
}

// Places in the order of the pipeline: pieces in parallel make no other path by overtaking.
void AttributeCollector::note_path(Rows& rows, const Journey& journey) {
  points_on_way_.clear();
  for (const Step& step : journey.steps)
    if (!about_.topology.points[step.point].ack) points_on_way_.push_back(step.point);
  std::ranges::sort(points_on_way_, {}, [&](model::PointId id) {
    return std::pair(about_.topology.points[id].rank, id);
  });
  const auto again = std::ranges::unique(points_on_way_);
  points_on_way_.erase(again.begin(), again.end());
  set_path(rows, points_on_way_);
}

void AttributeCollector::set_path(Rows& rows, const std::vector<model::PointId>& points) {
  Column& column = column_of(rows, "path");
  const std::size_t row = rows.start_ns.size() - 1;
  if (column.of.size() <= row) column.of.resize(row + 1, kNoValue);
  if (column.of[row] != kNoValue) return;
  if (const auto known = rows.path_of.find(points); known != rows.path_of.end()) {
    column.of[row] = known->second;
    return;
  }
  std::vector<std::string> places;
  for (const model::PointId id : points) {
    const std::string& dest = about_.schema.points[id].dest;
    if (places.empty() || places.back() != dest) places.push_back(dest);
  }
  const bool is_new =
      put(column, row, fmt::format("{}", fmt::join(places, " > ")), [] { return std::string(); });
  if (is_new) rows.paths.push_back(std::move(places));
  if (rows.path_of.size() < Numbers::kMost) rows.path_of.emplace(points, column.of[row]);
}

// A path is distinguished from the others by the places that not all of them have. Empty if that
// takes many places, or if acknowledgements, which are in no path, enter one of them too.
std::vector<std::string> AttributeCollector::path_conditions(const Rows& rows) const {
  constexpr std::size_t kMostPlaces = 8;
  std::map<std::string, std::size_t> number;  // of paths that have the place
  for (const auto& places : rows.paths)
    for (const std::string& place : std::set(places.begin(), places.end())) ++number[place];
  for (std::size_t id = 0; id < about_.schema.points.size(); ++id)
    if (about_.topology.points[id].ack) number.erase(about_.schema.points[id].dest);
  std::erase_if(number, [&](const auto& place) { return place.second == rows.paths.size(); });
  std::vector<std::string> conditions;
  std::map<std::string, std::size_t> known;
  for (const auto& places : rows.paths) {
    std::vector<std::string> parts;
    for (const auto& [place, paths] : number) {
      const auto name = quoted(place);
      const bool has = std::ranges::find(places, place) != places.end();
      parts.push_back(name ? fmt::format("dest {} {}", has ? "==" : "!=", *name) : "");
    }
    const bool is_told =
        number.size() <= kMostPlaces && std::ranges::find(parts, "") == parts.end();
    conditions.push_back(is_told ? fmt::format("{}", fmt::join(parts, " && ")) : "");
    ++known[conditions.back()];
  }
  for (std::string& condition : conditions)
    if (known[condition] > 1) condition.clear();
  conditions.resize(rows.columns.at("path").values.size());  // "other"
  return conditions;
}

void AttributeCollector::on_journey(const Journey& journey) {
  if (!journey.has_latency() || journey.steps.empty()) return;
  Rows& rows = rows_[index_of(journey.direction)];
  if (rows.start_ns.size() == kMaxPackets) {
    ++left_out_;
    return;
  }
  rows.unexplained.emplace(journey.id, rows.start_ns.size());
  rows.start_ns.push_back(journey.start_ns);
  rows.end_ns.push_back(journey.end_ns);
  rows.latency_ns.push_back(static_cast<float>(journey.latency_ns()));
  rows.is_slow.push_back(is_slow_ && is_slow_(journey));
  const auto no_condition = [] { return std::string(); };
  note_ids(rows, journey.steps[journey.own_step]);
  for (const Step& step : journey.steps) note_ids(rows, step);
  note_length(rows, journey.steps[journey.own_step]);
  for (const Step& step : journey.steps) {
    note_thread(rows, step);
    note_cpu(rows, step);
  }
  note_path(rows, journey);
  note_repeats(rows, journey);
  const auto longest =
      std::ranges::max_element(journey.critical_path, {}, &journeys::CriticalPathSpan::ns);
  if (longest != journey.critical_path.end())
    set(rows, "longest in", about_.topology.places[longest->place].name, no_condition);
  constexpr std::uint64_t kTenthNs = 100'000'000;
  const std::uint64_t since_ns = journey.start_ns - std::min(journey.start_ns, about_.origin_ns);
  const std::uint64_t tenth = since_ns / kTenthNs % 10;
  set(rows, "tenth of the second", std::to_string(tenth), [&] {
    return fmt::format("time % 1s >= {}ms && time % 1s < {}ms", 100 * tenth, 100 * (tenth + 1));
  });
}

// Packets of the direction that had entered before and not left, for each.
void AttributeCollector::note_ahead(Rows& rows) {
  std::vector<std::uint64_t> starts = rows.start_ns;
  std::vector<std::uint64_t> ends = rows.end_ns;
  std::ranges::sort(starts);
  std::ranges::sort(ends);
  Column& column = rows.columns["packets ahead"];
  column.name = "packets ahead";
  std::array<std::uint32_t, 65> value_of;  // by the number of bits
  value_of.fill(kNoValue);
  for (const std::uint64_t start : rows.start_ns) {
    const auto entered = std::ranges::lower_bound(starts, start) - starts.begin();
    const auto left = std::ranges::upper_bound(ends, start) - ends.begin();
    const auto ahead = static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(entered - left, 0));
    std::uint32_t& value = value_of[static_cast<std::size_t>(std::bit_width(ahead))];
    if (value == kNoValue) {
      value = static_cast<std::uint32_t>(column.values.size());
      column.values.push_back(power_of_two_label(ahead));
    }
    column.of.push_back(value);
  }
}

void AttributeCollector::decide_slow(Rows& rows) {
  if (is_slow_) return;
  // `latency_ns` is rounded, which would make a few packets more or fewer slow.
  const auto latency = [&rows](std::size_t at) { return rows.end_ns[at] - rows.start_ns[at]; };
  statistics::Distribution latencies;
  for (std::size_t at = 0; at < rows.start_ns.size(); ++at) latencies.add(latency(at));
  rows.slow_from_ns = statistics::slow_from(latencies);
  for (std::size_t at = 0; at < rows.start_ns.size(); ++at)
    rows.is_slow[at] = latency(at) > rows.slow_from_ns;
}

PacketAttributes AttributeCollector::table_of(Rows& rows) const {
  std::vector<std::uint32_t> order(rows.start_ns.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  std::ranges::stable_sort(order, {}, [&](std::uint32_t at) { return rows.start_ns[at]; });
  PacketAttributes table;
  table.is_slow = in_order(rows.is_slow, order);
  rows.latency_ns = in_order(rows.latency_ns, order);
  if (const auto path = rows.columns.find("path"); path != rows.columns.end())
    path->second.conditions = path_conditions(rows);
  for (auto& [name, column] : rows.columns) {
    column.of.resize(order.size(), kNoValue);
    const bool is_of_all = std::ranges::find(column.of, kNoValue) == column.of.end();
    if (column.values.size() < 2 && is_of_all) continue;
    table.attributes.push_back({.name = name,
                                .values = std::move(column.values),
                                .conditions = std::move(column.conditions),
                                .of = in_order(column.of, order)});
  }
  rows.columns.clear();
  return table;
}

void AttributeCollector::finish() {
  for (std::size_t direction = 0; direction < rows_.size(); ++direction) {
    Rows& rows = rows_[direction];
    if (rows.start_ns.empty()) continue;
    note_ahead(rows);
    decide_slow(rows);
    tables_[direction] = table_of(rows);
  }
}

}  // namespace sojourn::differential
