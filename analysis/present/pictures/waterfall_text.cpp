#include "analysis/present/pictures/waterfall_text.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/present/journeys/journey_text.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {
namespace {

using journeys::Journey;
using journeys::kNoStep;
using journeys::Step;

constexpr std::size_t kMinColumns = 20;  // of the time
constexpr std::size_t kMaxName = 24;
constexpr std::size_t kDurationColumns = 10;

struct Bar {
  std::size_t lane = 0;
  std::uint64_t from_ns = 0;  // since the journey began
  std::uint64_t to_ns = 0;
  char letter = '=';
};

struct Lane {
  std::string name;
  std::vector<Bar> bars;
};

// The steps that led to the end of the packet, always by the parent that came last.
std::set<std::uint32_t> way_to_end(const Journey& journey) {
  std::set<std::uint32_t> way;
  std::uint32_t at = journey.end_step;
  while (at < journey.steps.size() && way.insert(at).second) {
    const auto& parents = journey.steps[at].parents;
    if (parents.empty()) break;
    at = *std::ranges::max_element(
        parents, {}, [&](std::uint32_t parent) { return journey.steps[parent].ts_ns; });
  }
  return way;
}

// In the order in which the packet came to them.
std::vector<Lane> lanes_of(const Journey& journey, const model::Schema& schema) {
  std::vector<Lane> lanes;
  const auto lane_of = [&](const std::string& place) {
    const auto found = std::ranges::find(lanes, place, &Lane::name);
    if (found != lanes.end()) return static_cast<std::size_t>(found - lanes.begin());
    lanes.push_back({.name = place, .bars = {}});
    return lanes.size() - 1;
  };
  const auto since_start = [&](std::uint64_t ts_ns) {
    return ts_ns - std::min(ts_ns, journey.start_ns);
  };
  const auto way = way_to_end(journey);
  for (std::uint32_t at = 0; at < journey.steps.size(); ++at) {
    const Step& step = journey.steps[at];
    const model::Point& point = schema.points[step.point];
    if (step.parents.empty()) lane_of(point.dest);
    for (const std::uint32_t parent : step.parents) {
      const std::size_t lane = lane_of(point.src);
      const char letter = step.repeat_of != kNoStep ? '%' : way.contains(at) ? '#' : '=';
      lanes[lane].bars.push_back({.lane = lane,
                                  .from_ns = since_start(journey.steps[parent].ts_ns),
                                  .to_ns = since_start(step.ts_ns),
                                  .letter = letter});
    }
  }
  return lanes;
}

// Below them what a script made meanwhile: activities as bars, markers as instants.
void add_meanwhile(const Journey& journey, const model::Schema& schema, std::vector<Lane>& lanes) {
  const std::size_t places = lanes.size();
  const auto since_start = [&](std::uint64_t ts_ns) {
    return ts_ns - std::min(ts_ns, journey.start_ns);
  };
  for (const journeys::Meanwhile& made : journey.meanwhile) {
    const std::string name = "A " + schema.points[made.point].name();
    auto lane = std::ranges::find(lanes.begin() + static_cast<std::ptrdiff_t>(places), lanes.end(),
                                  name, &Lane::name);
    if (lane == lanes.end()) lane = lanes.insert(lanes.end(), {.name = name, .bars = {}});
    lane->bars.push_back({.lane = static_cast<std::size_t>(lane - lanes.begin()),
                          .from_ns = since_start(made.begin_ns),
                          .to_ns = since_start(made.end_ns),
                          .letter = made.begin_ns == made.end_ns ? '!' : '~'});
  }
}

// Bars that overlap lie below each other.
std::vector<std::vector<Bar>> rows_of(std::vector<Bar> bars) {
  std::ranges::stable_sort(bars, {}, [](const Bar& bar) { return bar.from_ns; });
  std::vector<std::vector<Bar>> rows;
  for (const Bar& bar : bars) {
    const auto row = std::ranges::find_if(
        rows, [&](const auto& each) { return each.back().to_ns <= bar.from_ns; });
    if (row == rows.end())
      rows.push_back({bar});
    else
      row->push_back(bar);
  }
  return rows;
}

class Axis {
 public:
  Axis(std::uint64_t last_ns, std::size_t columns)
      : last_ns_(std::max<std::uint64_t>(last_ns, 1)), columns_(columns) {}

  std::size_t column(std::uint64_t ns) const {
    const double part = static_cast<double>(ns) / static_cast<double>(last_ns_);
    return std::min(columns_ - 1, static_cast<std::size_t>(part * static_cast<double>(columns_)));
  }
  // Four times, each at its own column.
  std::string ticks() const {
    constexpr std::size_t kTicks = 4;
    std::string text;
    for (std::size_t tick = 0; tick < kTicks; ++tick) {
      const std::size_t at = columns_ * tick / kTicks;
      if (at < text.size()) continue;
      text.append(at - text.size(), ' ');
      text += duration(static_cast<double>(last_ns_) * static_cast<double>(at) /
                       static_cast<double>(columns_)) +
              " ";
    }
    text.resize(std::min(columns_, text.size() - 1));
    return text;
  }
  std::size_t columns() const { return columns_; }

 private:
  std::uint64_t last_ns_;
  std::size_t columns_;
};

std::string drawn(const std::vector<Bar>& row, const Axis& axis) {
  std::string text(axis.columns(), ' ');
  for (const Bar& bar : row) {
    const std::size_t from = axis.column(bar.from_ns);
    const std::size_t to = std::max(axis.column(bar.to_ns), from + 1);
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(from),
              text.begin() + static_cast<std::ptrdiff_t>(to), bar.letter);
  }
  return text;
}

std::string shortened(std::string name) {
  name = printable(name);
  return name.size() <= kMaxName ? name : name.substr(0, kMaxName - 3) + "...";
}

}  // namespace

std::string waterfall_text(const Journey& journey, const model::Schema& schema, std::size_t width) {
  auto lanes = lanes_of(journey, schema);
  add_meanwhile(journey, schema, lanes);
  std::size_t name_columns = 0;
  for (const Lane& lane : lanes) name_columns = std::max(name_columns, shortened(lane.name).size());
  std::uint64_t last_ns = journey.end_ns - journey.start_ns;
  for (const Lane& lane : lanes)
    for (const Bar& bar : lane.bars) last_ns = std::max(last_ns, bar.to_ns);
  const std::size_t taken = 2 + name_columns + 2 + 1 + kDurationColumns;
  const Axis axis(last_ns, std::max(kMinColumns, width - std::min(width, taken)));

  std::string text = wrapped(journey_headline(journey, schema), 2, width) + "\n";
  text += fmt::format("  {:{}}  {}\n", "", name_columns, axis.ticks());
  for (const Lane& lane : lanes) {
    std::uint64_t longest_ns = 0;
    for (const Bar& bar : lane.bars) longest_ns = std::max(longest_ns, bar.to_ns - bar.from_ns);
    bool is_first = true;
    for (const auto& row : rows_of(lane.bars)) {
      const std::string line =
          fmt::format("  {:{}} |{}| {}", is_first ? shortened(lane.name) : "", name_columns,
                      drawn(row, axis), is_first ? duration(static_cast<double>(longest_ns)) : "");
      text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
      is_first = false;
    }
  }
  if (journey.has_latency())
    text += fmt::format("  {:{}}  {:>{}} whole\n", "", name_columns, "^",
                        axis.column(journey.end_ns - journey.start_ns) + 1);
  return text;
}

}  // namespace sojourn::present
