// The columns of `sojourn live`'s screen: which are shown, their widths and their cells. If a
// terminal has no room for all wanted ones, the least informative go first. No state.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/live/live_snapshot.h"
#include "analysis/present/live/gauges.h"
#include "analysis/present/live/screen_line.h"

namespace sojourn::present {

enum class LiveColumn : std::uint8_t {
  kRate,
  kP50,
  kP90,
  kP99,
  kP999,
  kMax,
  kDepth,
  kBar,
  kDepthMax,
  kSpark,
};
inline constexpr std::size_t kLiveColumns = 10;
using LiveColumns = std::bitset<kLiveColumns>;

std::string_view heading(LiveColumn column);  // "p99"
std::string_view meaning(LiveColumn column);  // a few words

struct LiveLayout {
  struct Shown {
    LiveColumn column = LiveColumn::kRate;
    std::size_t width = 0;  // without the blank before it
  };
  std::size_t name_width = 0;
  std::vector<Shown> columns;
};

LiveLayout layout_of(const live::Snapshot& snapshot, LiveColumns wanted, std::size_t width);

// The heading of a table. `first` stands above the names.
ScreenLine heading_line(const LiveLayout& layout, std::string_view first,
                        std::optional<LiveColumn> sorted_by, Glyphs glyphs);

struct LiveRow {
  const live::TimesRow* times = nullptr;
  const live::QueueRow* queue = nullptr;  // null: it has none
  std::uint64_t deepest = 0;              // the value of a full bar
  bool is_selected = false;
};
ScreenLine row_line(const LiveLayout& layout, const LiveRow& row, bool since_start, Glyphs glyphs);

}  // namespace sojourn::present
