// The screen of `sojourn live`, as lines that a terminal only has to draw: the same for the same
// figures and the same size. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/live/live_snapshot.h"
#include "analysis/present/live/gauges.h"
#include "analysis/present/live/screen_line.h"
#include "analysis/present/live/screen_table.h"

namespace sojourn::present {

enum class LiveSort : std::uint8_t { kPath, kRate, kP99, kMax, kDepth };
inline constexpr std::size_t kLiveSorts = 5;

struct LiveScreen {
  std::size_t width = 80;
  std::size_t height = 24;
  Glyphs glyphs = Glyphs::kBlocks;
  bool since_start = false;
  LiveSort sort = LiveSort::kPath;
  LiveColumns columns = LiveColumns().set();
  std::size_t selected = 0;  // row of places; kept in range by who draws
  std::string paused;        // the activity that goes on meanwhile; empty: not paused
  bool helps = false;        // the keys are shown
  bool chooses_columns = false;
  std::optional<std::string> question;  // "filter: "
  std::string answer;                   // the text that is being typed
  std::string message;                  // about the last action
  bool is_error = false;
  bool is_readonly = false;
};

// `height` lines at most, none wider than `width`.
std::vector<ScreenLine> screen_lines(const live::Snapshot& snapshot, const LiveScreen& screen);

// The places in the order in which they are shown.
std::vector<const live::TimesRow*> sorted_places(const live::Snapshot& snapshot, LiveSort sort,
                                                 bool since_start);

}  // namespace sojourn::present
