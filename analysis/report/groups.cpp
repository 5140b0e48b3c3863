#include "analysis/report/groups.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "analysis/base/printable.h"
#include "analysis/journeys/known_ids.h"
#include "analysis/model/value_text.h"

namespace sojourn::report {
namespace {

using journeys::Journey;
using journeys::Step;
using model::Role;

// A journey that closes after this many later ones is out of order.
constexpr std::size_t kWindow = 1 << 20;

constexpr std::array kNames = {std::pair{By::kDirection, std::string_view("direction")},
                               std::pair{By::kUe, std::string_view("ue")},
                               std::pair{By::kBearer, std::string_view("bearer")},
                               std::pair{By::kPath, std::string_view("path")},
                               std::pair{By::kHop, std::string_view("hop")},
                               std::pair{By::kLayer, std::string_view("layer")},
                               std::pair{By::kPoint, std::string_view("point")},
                               std::pair{By::kThread, std::string_view("thread")}};

std::string_view layer(std::string_view place) {
  return place.substr(0, place.find('.'));
}

}  // namespace

std::optional<By> by_from(std::string_view name) {
  for (const auto& [by, known] : kNames)
    if (known == name) return by;
  return std::nullopt;
}

std::string_view name(By by) {
  return kNames[static_cast<std::size_t>(by)].second;
}

Groups::Groups(By by, const model::Schema& schema, const journeys::Topology& topology,
               std::map<std::uint32_t, std::string> thread_names)
    : by_(by), schema_(schema), topology_(topology), thread_names_(std::move(thread_names)) {}

void Groups::on_journey(const Journey& journey) {
  if (counts_events(by_) || counts_stays(by_)) return;
  if (journey.outcome != journeys::Outcome::kComplete) return;
  const Step& packet = journey.steps[journey.own_step];
  const bool enters = topology_.points[packet.point].anchored_at_input;
  const auto took_ns = journey.has_latency() ? std::optional(journey.latency_ns()) : std::nullopt;
  add(group_of(letter(journey.direction), name_of(journey)),
      enters ? journey.start_ns : journey.end_ns, took_ns, bytes_of(packet.point, packet.values));
}

void Groups::on_stay(const journeys::Stay& stay) {
  if (!counts_stays(by_)) return;
  const auto found = by_number_.find(stay.pair);
  std::uint32_t group = 0;
  if (found != by_number_.end()) {
    group = found->second;
  } else {
    const journeys::Pair& pair = topology_.pairs[stay.pair];
    const journeys::Place& place = topology_.places[pair.place];
    const model::Point& from = schema_.points[pair.parent];
    const model::Point& to = schema_.points[pair.child];
    const std::string words = by_ == By::kHop
                                  ? fmt::format("{} -> {} -> {}", from.src, place.name, to.dest)
                                  : std::string(layer(place.name));
    group = group_of(letter(place.direction), words);
    by_number_[stay.pair] = group;
  }
  add(group, stay.left_ns, stay.left_ns - stay.entered_ns, bytes_of(stay));
}

bool Groups::on_event(const model::EventView& event) {
  if (!counts_events(by_)) return false;
  if (event.point >= topology_.points.size()) return false;
  const journeys::PointPlan& plan = topology_.points[event.point];
  if (!plan.of_target) return false;
  const std::uint32_t number = by_ == By::kPoint ? event.point : event.tid;
  auto found = by_number_.find(number);
  if (found == by_number_.end()) {
    const std::uint32_t group = by_ == By::kPoint
                                    ? group_of(letter(schema_.points[event.point].direction),
                                               schema_.points[event.point].name())
                                    : group_of(' ', thread(event.tid));
    found = by_number_.emplace(number, group).first;
  }
  Group& group = groups_[found->second];
  group.arrivals.add(event.ts_ns);
  if (const auto bytes = bytes_of(event.point, event.values)) {
    const auto more = static_cast<double>(*bytes);
    if (by_ == By::kPoint)
      group.bytes = group.bytes.value_or(0) + more;
    else
      told_bytes_[{found->second, event.point}] += more;
  }
  return true;
}

std::uint32_t Groups::group_of(char direction, std::string name) {
  const auto known = known_.find({direction, name});
  if (known != known_.end()) return known->second;
  if (groups_.size() >= kMaxGroups && name != "all others") return group_of(' ', "all others");
  const auto index = static_cast<std::uint32_t>(groups_.size());
  Group& group = groups_.emplace_back();
  group.direction = direction;
  group.name = name;
  last_.emplace_back();
  known_.emplace(std::pair{direction, std::move(name)}, index);
  return index;
}

void Groups::add(std::uint32_t group, std::uint64_t at_ns, std::optional<std::uint64_t> took_ns,
                 std::optional<std::uint64_t> bytes) {
  Group& to = groups_[group];
  if (took_ns)
    to.times_ns.add(*took_ns);
  else
    ++to.at_one_point;
  if (bytes) to.bytes = to.bytes.value_or(0) + static_cast<double>(*bytes);
  window_.push_back({at_ns, serial_++, took_ns, group});
  std::ranges::push_heap(window_, std::less<>());
  if (window_.size() > kWindow) settle_oldest();
}

void Groups::settle_oldest() {
  std::ranges::pop_heap(window_, std::less<>());
  const Waiting oldest = window_.back();
  window_.pop_back();
  Group& group = groups_[oldest.group];
  Last& last = last_[oldest.group];
  const bool is_first = group.arrivals.count() == 0;
  if (!is_first && oldest.at_ns < last.at_ns) {
    ++group.disorder;
    return;
  }
  if (!is_first && oldest.took_ns && last.took_ns)
    group.changes_ns.add(std::max(*oldest.took_ns, *last.took_ns) -
                         std::min(*oldest.took_ns, *last.took_ns));
  group.arrivals.add(oldest.at_ns);
  last = {oldest.at_ns, oldest.took_ns};
}

void Groups::finish() {
  while (!window_.empty()) settle_oldest();
  count_threads_bytes();
  std::ranges::sort(groups_, [](const Group& left, const Group& right) {
    if (left.direction != right.direction) return left.direction < right.direction;
    if (left.arrivals.count() != right.arrivals.count())
      return left.arrivals.count() > right.arrivals.count();
    return left.name < right.name;
  });
}

// For each direction, the bytes at the point that had most: all of them passed it.
void Groups::count_threads_bytes() {
  std::map<std::pair<std::uint32_t, model::Direction>, double> most;
  for (const auto& [of, bytes] : told_bytes_) {
    double& known = most[{of.first, schema_.points[of.second].direction}];
    known = std::max(known, bytes);
  }
  for (const auto& [of, bytes] : most) {
    Group& group = groups_[of.first];
    group.bytes = group.bytes.value_or(0) + bytes;
  }
}

std::string Groups::name_of(const Journey& journey) const {
  if (by_ == By::kDirection) return "all packets";
  if (by_ == By::kUe) return journeys::owner_text(schema_, journey);
  return by_ == By::kBearer ? bearer(journey) : path(journey);
}

// The global ids of the first event that has some, the packet's own before all others.
std::string Groups::bearer(const Journey& journey) const {
  const auto words = [this](const Step& step) {
    const auto& point = schema_.points[step.point];
    for (const std::string_view bearer : journeys::Rules::kBearers)
      for (std::size_t i = 0; i < point.fields.size(); ++i)
        if (point.fields[i].role != Role::kProperty && point.fields[i].name == bearer)
          return fmt::format("{} {}", bearer, model::value_text(point, i, step.values));
    return std::string();
  };
  std::string text = words(journey.steps[journey.own_step]);
  for (std::size_t i = 0; text.empty() && i < journey.steps.size(); ++i)
    text = words(journey.steps[i]);
  return fmt::format("{} {}", journeys::owner_text(schema_, journey),
                     text.empty() ? "no bearer id" : text);
}

// The places that it came through, in the order of the pipeline: pieces in parallel make no other
// path by overtaking each other.
std::string Groups::path(const Journey& journey) const {
  std::set<std::pair<std::uint16_t, model::PointId>> points;
  for (const Step& step : journey.steps)
    // Acknowledgements are not a part of the path.
    if (!topology_.points[step.point].ack)
      points.insert({topology_.points[step.point].rank, step.point});
  std::string text;
  std::string last;
  for (const auto& [rank, id] : points) {
    const auto& point = schema_.points[id];
    if (text.empty()) text = point.src;
    if (point.dest != last) text += " -> " + point.dest;
    last = point.dest;
  }
  return text;
}

std::string Groups::thread(std::uint32_t tid) const {
  const auto name = thread_names_.find(tid);
  return name == thread_names_.end() ? std::to_string(tid)
                                     : fmt::format("{} {}", printable(name->second), tid);
}

std::optional<std::uint64_t> Groups::bytes_of(model::PointId point,
                                              std::span<const std::uint64_t> values) const {
  const auto& length = topology_.points[point].length;
  if (!length || *length >= values.size()) return std::nullopt;
  return values[*length];
}

// The lesser of the two lengths went on: a segment of a unit that was cut, or a unit that was
// joined with others. A unit that stays in its layer, or ends, has not gone through it.
std::optional<std::uint64_t> Groups::bytes_of(const journeys::Stay& stay) const {
  const journeys::Pair& pair = topology_.pairs[stay.pair];
  const journeys::PointPlan& child = topology_.points[pair.child];
  if (child.drop) return std::nullopt;
  const bool stays_in_layer =
      layer(schema_.points[pair.child].dest) == layer(topology_.places[pair.place].name);
  if (by_ == By::kLayer && stays_in_layer && !child.output) return std::nullopt;
  const auto entered = bytes_of(pair.parent, stay.entered_values);
  const auto left = bytes_of(pair.child, stay.values);
  if (!entered || !left) return entered ? entered : left;
  return std::min(entered, left);
}

}  // namespace sojourn::report
