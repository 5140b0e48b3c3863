#include "analysis/present/live/screen_table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/present/words/text_format.h"

namespace sojourn::present {

namespace {

struct ColumnFacts {
  std::string_view heading;
  std::string_view meaning;
  std::size_t width;
};

constexpr std::array<ColumnFacts, kLiveColumns> kFacts = {
    ColumnFacts{"/s", "how many a second", 7},
    ColumnFacts{"p50", "half took no longer", 7},
    ColumnFacts{"p90", "nine of ten took no longer", 7},
    ColumnFacts{"p99", "99 of 100 took no longer", 7},
    ColumnFacts{"p99.9", "999 of 1,000 took no longer", 7},
    ColumnFacts{"max", "the longest", 7},
    ColumnFacts{"in it", "how many are in it now", 5},
    ColumnFacts{"", "how many are in it now, as a bar up to the most", 8},
    ColumnFacts{"most", "the most that were in it at once", 5},
    ColumnFacts{"p99 by second", "the p99 of each of the last seconds", 10}};

// The columns in the order in which they are left out if there is no room.
constexpr std::array kSpared = {LiveColumn::kSpark, LiveColumn::kP90, LiveColumn::kDepthMax,
                                LiveColumn::kP999,  LiveColumn::kBar, LiveColumn::kRate,
                                LiveColumn::kDepth, LiveColumn::kMax, LiveColumn::kP50,
                                LiveColumn::kP99};
constexpr std::size_t kMostSpark = 40;
constexpr std::size_t kMostBar = 24;
constexpr std::size_t kLeastName = 12;
constexpr std::size_t kGoodName = 24;
constexpr std::size_t kMostName = 34;

const ColumnFacts& facts_of(LiveColumn column) {
  return kFacts[static_cast<std::size_t>(column)];
}

std::size_t width_of(const LiveLayout& layout) {
  std::size_t width = layout.name_width;
  for (const auto& shown : layout.columns) width += 1 + shown.width;
  return width;
}

std::size_t widest_name(const live::Snapshot& snapshot) {
  std::size_t width = kLeastName;
  for (const auto& row : snapshot.directions) width = std::max(width, row.times.name.size() + 2);
  for (const auto& row : snapshot.places) width = std::max(width, row.name.size() + 2);
  return width;
}

// Widens the column by the room that is left.
void widen(LiveLayout& layout, LiveColumn column, std::size_t most, std::size_t width) {
  for (auto& shown : layout.columns)
    if (shown.column == column)
      shown.width = std::min(most, shown.width + (width - std::min(width, width_of(layout))));
}

std::uint64_t time_in(const live::Quantiles& times, LiveColumn column) {
  switch (column) {
    case LiveColumn::kP50:
      return times.p50_ns;
    case LiveColumn::kP90:
      return times.p90_ns;
    case LiveColumn::kP99:
      return times.p99_ns;
    case LiveColumn::kP999:
      return times.p999_ns;
    default:
      return times.max_ns;
  }
}

ScreenSpan cell_of(const LiveLayout::Shown& shown, const LiveRow& row, bool since_start,
                   Glyphs glyphs) {
  const live::Quantiles& times = since_start ? row.times->all : row.times->window;
  const auto number = [&](std::uint64_t value) {
    return ScreenSpan{right_aligned(count(value), shown.width)};
  };
  switch (shown.column) {
    case LiveColumn::kRate:
      return {
          right_aligned(count(static_cast<std::uint64_t>(std::llround(times.per_s))), shown.width),
          Look::kDim};
    case LiveColumn::kDepth:
      return row.queue == nullptr ? ScreenSpan{std::string(shown.width, ' ')}
                                  : number(row.queue->now);
    case LiveColumn::kDepthMax:
      return row.queue == nullptr ? ScreenSpan{std::string(shown.width, ' ')}
                                  : number(since_start ? row.queue->max : row.queue->window_max);
    case LiveColumn::kBar:
      return {row.queue == nullptr ? std::string(shown.width, ' ')
                                   : gauge(row.queue->now, row.deepest, shown.width, glyphs),
              Look::kBar};
    case LiveColumn::kSpark:
      return {sparkline(row.times->p99_by_second, shown.width, glyphs), Look::kSpark};
    default:
      return {
          right_aligned(
              times.count == 0 ? "-" : duration(static_cast<double>(time_in(times, shown.column))),
              shown.width),
          shown.column == LiveColumn::kP99 ? Look::kStrong : Look::kPlain};
  }
}

}  // namespace

std::string_view heading(LiveColumn column) {
  return facts_of(column).heading;
}

std::string_view meaning(LiveColumn column) {
  return facts_of(column).meaning;
}

LiveLayout layout_of(const live::Snapshot& snapshot, LiveColumns wanted, std::size_t width) {
  LiveLayout layout;
  layout.name_width = std::min(widest_name(snapshot), kMostName);
  for (std::size_t at = 0; at < kLiveColumns; ++at)
    if (wanted[at]) layout.columns.push_back({static_cast<LiveColumn>(at), kFacts[at].width});
  for (const LiveColumn spared : kSpared) {
    if (width_of(layout) <= width) break;
    // A name that is cut a little is better than a column that is not there.
    const std::size_t over = width_of(layout) - width;
    if (layout.name_width >= over + kGoodName && spared != LiveColumn::kSpark) {
      layout.name_width -= over;
      break;
    }
    std::erase_if(layout.columns,
                  [&](const LiveLayout::Shown& shown) { return shown.column == spared; });
  }
  widen(layout, LiveColumn::kSpark, kMostSpark, width);
  widen(layout, LiveColumn::kBar, kMostBar, width);
  return layout;
}

ScreenLine heading_line(const LiveLayout& layout, std::string_view first,
                        std::optional<LiveColumn> sorted_by, Glyphs glyphs) {
  ScreenLine line = {{padded(first, layout.name_width, glyphs), Look::kHeader}};
  for (const auto& shown : layout.columns) {
    const bool is_sorted = shown.column == sorted_by;
    std::string words(heading(shown.column));
    if (is_sorted) words.insert(0, glyphs == Glyphs::kBlocks ? "▾" : "*");
    const bool is_left = shown.column == LiveColumn::kSpark || shown.column == LiveColumn::kBar;
    line.push_back(
        {" " + (is_left ? padded(words, shown.width, glyphs) : right_aligned(words, shown.width)),
         Look::kHeader});
  }
  return line;
}

ScreenLine row_line(const LiveLayout& layout, const LiveRow& row, bool since_start, Glyphs glyphs) {
  const bool is_up = row.times->direction == model::Direction::kUplink;
  ScreenLine line;
  line.push_back({std::string(1, letter(row.times->direction)), is_up ? Look::kUp : Look::kDown});
  line.push_back({" " + padded(row.times->name, layout.name_width - 2, glyphs)});
  for (const auto& shown : layout.columns) {
    line.push_back({" "});
    line.push_back(cell_of(shown, row, since_start, glyphs));
  }
  if (row.is_selected)
    for (ScreenSpan& span : line) span.look = Look::kSelected;
  return line;
}

}  // namespace sojourn::present
