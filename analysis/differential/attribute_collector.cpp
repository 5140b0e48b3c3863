#include "analysis/differential/attribute_collector.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "analysis/model/value_text.h"

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

}  // namespace

AttributeCollector::AttributeCollector(const About& about, IsSlow is_slow)
    : about_(about), is_slow_(std::move(is_slow)) {
  for (const model::Stream& stream : about.streams) cpus_[stream.id] = stream.cpu;
}

// Sets an attribute of the packet that was begun last.
void AttributeCollector::set(Rows& rows, const std::string& name, std::string value) {
  Column& column = rows.columns[name];
  column.name = name;
  const std::size_t row = rows.start_ns.size() - 1;
  if (column.of.size() > row) return;  // the first one counts
  column.of.resize(row, kNoValue);
  if (column.values.size() >= kMaxValues && !column.known.contains(value)) value = "other";
  const auto [known, is_new] =
      column.known.try_emplace(value, static_cast<std::uint32_t>(column.values.size()));
  if (is_new) column.values.push_back(std::move(value));
  column.of.push_back(known->second);
}

void AttributeCollector::note_ids(Rows& rows, const Journey& journey) {
  const auto note = [&](const Step& step) {
    const model::Point& point = about_.schema.points[step.point];
    const auto& bearers = journeys::Rules::kBearers;
    for (std::size_t field = 0; field < point.fields.size() && field < step.values.size();
         ++field) {
      const model::Field& about = point.fields[field];
      const bool is_bearer = about.role != model::Role::kProperty &&
                             std::ranges::find(bearers, about.name) != bearers.end();
      if (about.role == model::Role::kGlobal || is_bearer)
        set(rows, about.name, model::value_text(point, field, step.values));
    }
  };
  const Step& own = journey.steps[journey.own_step];
  note(own);
  for (const Step& step : journey.steps) note(step);
  const auto& length = about_.topology.points[own.point].length;
  if (length && *length < own.values.size())
    set(rows, "bytes", power_of_two_label(own.values[*length]));
}

void AttributeCollector::note_threads(Rows& rows, const Journey& journey) {
  for (const Step& step : journey.steps) {
    const std::string name = about_.schema.points[step.point].name();
    if (step.tid != 0) {
      const auto thread = about_.thread_names.find(step.tid);
      set(rows, "thread at " + name,
          thread == about_.thread_names.end() ? std::to_string(step.tid)
                                              : fmt::format("{} {}", thread->second, step.tid));
    }
    const auto cpu = cpus_.find(step.stream);
    if (cpu != cpus_.end() && cpu->second >= 0)
      set(rows, "cpu at " + name, std::to_string(cpu->second));
  }
}

// Places in the order of the pipeline: pieces in parallel make no other path by overtaking.
std::string AttributeCollector::path(const Journey& journey) const {
  std::set<std::pair<std::uint16_t, model::PointId>> points;
  for (const Step& step : journey.steps)
    if (!about_.topology.points[step.point].ack)
      points.insert({about_.topology.points[step.point].rank, step.point});
  std::string text;
  std::string last;
  for (const auto& [rank, id] : points) {
    const std::string& dest = about_.schema.points[id].dest;
    if (dest == last) continue;
    if (!text.empty()) text += " > ";
    text += dest;
    last = dest;
  }
  return text;
}

void AttributeCollector::on_journey(const Journey& journey) {
  if (!journey.has_latency() || journey.steps.empty()) return;
  Rows& rows = rows_[index_of(journey.direction)];
  if (rows.start_ns.size() == kMaxPackets) {
    ++left_out_;
    return;
  }
  rows.start_ns.push_back(journey.start_ns);
  rows.end_ns.push_back(journey.end_ns);
  rows.latency_ns.push_back(static_cast<float>(journey.latency_ns()));
  rows.is_slow.push_back(is_slow_ && is_slow_(journey));
  note_ids(rows, journey);
  note_threads(rows, journey);
  set(rows, "path", path(journey));
  set(rows, "segments", count_label(journey.segments, 4));
  set(rows, "RLC repeats", count_label(journey.retransmissions - journey.harq_retransmissions, 3));
  set(rows, "HARQ repeats", count_label(journey.harq_retransmissions, 3));
  constexpr std::uint64_t kTenthNs = 100'000'000;
  const std::uint64_t since_ns = journey.start_ns - std::min(journey.start_ns, about_.origin_ns);
  set(rows, "tenth of the second", std::to_string(since_ns / kTenthNs % 10));
}

// Packets of the direction that had entered before and not left, for each.
void AttributeCollector::note_ahead(Rows& rows) {
  std::vector<std::uint64_t> starts = rows.start_ns;
  std::vector<std::uint64_t> ends = rows.end_ns;
  std::ranges::sort(starts);
  std::ranges::sort(ends);
  Column& column = rows.columns["packets ahead"];
  column.name = "packets ahead";
  for (const std::uint64_t start : rows.start_ns) {
    const auto entered = std::ranges::lower_bound(starts, start) - starts.begin();
    const auto left = std::ranges::upper_bound(ends, start) - ends.begin();
    const std::string value =
        power_of_two_label(static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(entered - left, 0)));
    const auto [known, is_new] =
        column.known.try_emplace(value, static_cast<std::uint32_t>(column.values.size()));
    if (is_new) column.values.push_back(value);
    column.of.push_back(known->second);
  }
}

void AttributeCollector::decide_slow(Rows& rows) {
  if (is_slow_ || rows.latency_ns.empty()) return;
  std::vector<float> sorted = rows.latency_ns;
  std::ranges::sort(sorted);
  const float limit = sorted[(sorted.size() - 1) * 99 / 100];
  rows.slow_from_ns = static_cast<std::uint64_t>(limit);
  for (std::size_t at = 0; at < sorted.size(); ++at) rows.is_slow[at] = rows.latency_ns[at] > limit;
}

PacketAttributes AttributeCollector::table_of(Rows& rows) {
  std::vector<std::uint32_t> order(rows.start_ns.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  std::ranges::stable_sort(order, {}, [&](std::uint32_t at) { return rows.start_ns[at]; });
  PacketAttributes table;
  table.is_slow = in_order(rows.is_slow, order);
  rows.latency_ns = in_order(rows.latency_ns, order);
  for (auto& [name, column] : rows.columns) {
    column.of.resize(order.size(), kNoValue);
    const bool is_of_all = std::ranges::find(column.of, kNoValue) == column.of.end();
    if (column.values.size() < 2 && is_of_all) continue;
    table.attributes.push_back(
        {.name = name, .values = std::move(column.values), .of = in_order(column.of, order)});
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
