#include "analysis/present/pictures/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/present/words/text_format.h"

namespace sojourn::present {
namespace {

using report::LatencyGrid;

constexpr std::size_t kLabel = 12;  // in front of the axis
constexpr std::size_t kMapRows = 16;
constexpr std::size_t kLeastColumns = 20;
constexpr std::size_t kTimesShown = 4;
constexpr std::string_view kShades = ".:-=+*#%@";  // the more packets, the darker
constexpr double kLinesOfDecade = 3;               // of the curve

std::string_view name_of(model::Direction direction) {
  return direction == model::Direction::kUplink ? "Uplink" : "Downlink";
}

std::string without_end_blanks(std::string line) {
  line.resize(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

template <typename Value>
std::string axis_line(std::size_t columns, Value value) {
  std::string text;
  for (std::size_t tick = 0; tick < kTimesShown; ++tick) {
    const std::size_t at = columns * tick / kTimesShown;
    if (at < text.size()) continue;
    text.append(at - text.size(), ' ');
    text += duration(value(static_cast<double>(at) / static_cast<double>(columns))) + " ";
  }
  text.resize(std::min(text.size(), columns));
  return without_end_blanks(fmt::format("{:{}}  {}", "", kLabel, text));
}

// The count of each cell of the picture, the longest latencies in the first row.
std::vector<std::vector<std::uint64_t>> cells_of(const LatencyGrid& grid,
                                                 model::Direction direction, std::size_t columns,
                                                 std::size_t low, std::size_t high) {
  std::vector rows(kMapRows, std::vector<std::uint64_t>(columns));
  for (std::size_t row = low; row <= high; ++row)
    for (std::size_t column = 0; column < grid.used_columns(); ++column) {
      const std::size_t y = (high - row) * kMapRows / (high - low + 1);
      rows[y][column * columns / grid.used_columns()] += grid.count(direction, column, row);
    }
  return rows;
}

std::string heat_map(const LatencyGrid& grid, const statistics::Distribution& latencies,
                     model::Direction direction, std::size_t width) {
  const std::size_t room = std::max(kLeastColumns, width - std::min(width, kLabel + 3));
  const std::size_t columns = std::min(room, grid.used_columns());
  const std::size_t low = LatencyGrid::row_of(latencies.min());
  const std::size_t high = LatencyGrid::row_of(latencies.max());
  const auto rows = cells_of(grid, direction, columns, low, high);
  std::uint64_t most = 1;
  for (const auto& row : rows) most = std::max(most, std::ranges::max(row));
  std::string text =
      wrapped(fmt::format("{}: latency over arrival time, {} packets ({} is 1, {} is {})",
                          name_of(direction), count(latencies.count()), kShades.front(),
                          kShades.back(), count(most)),
              2, width);
  text += "\n";
  for (std::size_t y = 0; y < rows.size(); ++y) {
    // Every fourth row has a label: the latency at which it begins.
    const double row =
        static_cast<double>(high + 1) -
        static_cast<double>((y + 1) * (high - low + 1)) / static_cast<double>(kMapRows);
    const bool has_label = (y + 1) % 4 == 0;
    const double from_ns = std::exp2(row / static_cast<double>(LatencyGrid::kRowsOfDoubling));
    std::string line = fmt::format("{:>{}} |", has_label ? duration(from_ns) : "", kLabel);
    for (const std::uint64_t packets : rows[y]) {
      const double shade = std::log1p(static_cast<double>(packets)) /
                           std::log1p(static_cast<double>(most)) *
                           static_cast<double>(kShades.size());
      const auto index = static_cast<std::size_t>(std::max(0.0, std::ceil(shade) - 1));
      line += packets == 0 ? ' ' : kShades[std::min(index, kShades.size() - 1)];
    }
    text += without_end_blanks(std::move(line));
  }
  const double all_ns =
      static_cast<double>(grid.column_ns()) * static_cast<double>(grid.used_columns());
  return text + axis_line(columns, [&](double part) { return part * all_ns; });
}

struct PlottedCurve {
  char letter;
  const statistics::Distribution* times;
};

// A line for each share of the packets, down to a single one: the letter is at the time that this
// share exceeds.
std::string curves(const std::vector<PlottedCurve>& all, std::size_t width) {
  const std::size_t columns = std::max(kLeastColumns, width - std::min(width, kLabel + 3));
  double low = 1e18;
  double high = 1;
  std::uint64_t most = 1;
  for (const PlottedCurve& curve : all) {
    low = std::min(low, static_cast<double>(std::max<std::uint64_t>(curve.times->min(), 1)));
    high = std::max(high, static_cast<double>(curve.times->max()));
    most = std::max(most, curve.times->count());
  }
  const double span = std::max(std::log2(high / low), 1e-9);
  std::string text = "How many packets took longer than a time\n";
  for (double step = 0;; ++step) {
    const double share = std::pow(10, -step / kLinesOfDecade);
    if (share * static_cast<double>(most) < 1) break;
    std::string line(columns, ' ');
    for (const PlottedCurve& curve : all) {
      if (share * static_cast<double>(curve.times->count()) < 1) continue;
      // That all exceed, or but for it: the least.
      const double ns = std::max(1.0, static_cast<double>(curve.times->quantile(1 - share)));
      const double part = std::log2(ns / low) / span * static_cast<double>(columns - 1);
      char& there = line[static_cast<std::size_t>(std::clamp(part, 0.0, double(columns - 1)))];
      there = there == ' ' ? curve.letter : '*';
    }
    const bool is_decade = std::fmod(step, kLinesOfDecade) == 0;
    const std::string label =
        step == 0
            ? "all"
            : fmt::format("1 of {}", count(static_cast<std::uint64_t>(std::llround(1 / share))));
    text += without_end_blanks(fmt::format("{:>{}} |{}", is_decade ? label : "", kLabel, line));
  }
  text += axis_line(columns, [&](double part) { return low * std::exp2(part * span); });
  for (const PlottedCurve& curve : all)
    text += fmt::format("{:{}}  {} {}\n", "", kLabel, curve.letter,
                        curve.letter == 'U' ? "uplink" : "downlink");
  return all.size() > 1 ? text + fmt::format("{:{}}  * both\n", "", kLabel) : text;
}

}  // namespace

std::string plot_text(const LatencyGrid& grid, const report::Summary& summary, std::size_t width) {
  std::string text;
  std::vector<PlottedCurve> all;
  for (const model::Direction direction : model::kPacketDirections) {
    const statistics::Distribution& latencies = summary.direction(direction).latency_ns;
    if (latencies.count() == 0) continue;
    text += heat_map(grid, latencies, direction, width) + "\n";
    all.push_back({.letter = letter(direction), .times = &latencies});
  }
  return all.empty() ? "no packet has a latency\n" : text + curves(all, width);
}

}  // namespace sojourn::present
