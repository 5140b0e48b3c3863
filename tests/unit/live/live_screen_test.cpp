// The screen for known figures: its contents, and that it fits.
#include "analysis/present/live/live_screen.h"

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "analysis/causes/context_name_table.h"
#include "analysis/present/live/gauges.h"

namespace sojourn::present {
namespace {

live::Quantiles times(std::uint64_t count, std::uint64_t p50_ns) {
  return {.count = count,
          .per_s = static_cast<double>(count) / 10,
          .p50_ns = p50_ns,
          .p90_ns = 2 * p50_ns,
          .p99_ns = 3 * p50_ns,
          .p999_ns = 4 * p50_ns,
          .max_ns = 5 * p50_ns};
}

live::Snapshot some_snapshot() {
  live::Snapshot snapshot;
  snapshot.target = "nr-softmodem, pid 4242";
  snapshot.open_ns = 1;
  snapshot.now_ns = 12'000'000'001;
  snapshot.window_s = 10;
  snapshot.since_s = 12;
  snapshot.events_per_s = 146'201;
  live::DirectionRow down;
  down.times.name = "ip.in -> phy.out.ant";
  down.times.window = down.times.all = times(100'000, 1'500'000);
  snapshot.directions.push_back(down);
  for (int place = 0; place < 20; ++place) {
    live::TimesRow row;
    row.name = "place." + std::to_string(place);
    row.direction = place % 2 == 0 ? model::Direction::kDownlink : model::Direction::kUplink;
    row.window = row.all = times(1'000, static_cast<std::uint64_t>(place + 1) * 100'000);
    row.p99_by_second = {1, 2, 3, 4, 5, 6, 7, 8};
    snapshot.places.push_back(row);
    snapshot.queues.push_back({.direction = row.direction,
                               .name = row.name,
                               .now = static_cast<std::uint64_t>(place),
                               .window_max = 40,
                               .max = 80});
  }
  return snapshot;
}

std::string text_of(const ScreenLine& line) {
  std::string text;
  for (const auto& span : line) text += span.text;
  return text;
}

std::string text_of(const std::vector<ScreenLine>& lines) {
  std::string text;
  for (const auto& line : lines) text += text_of(line) + "\n";
  return text;
}

TEST_CASE("a screen fits its terminal, whatever the size") {
  LiveScreen screen;
  screen.width = GENERATE(1, 20, 40, 80, 132, 200);
  screen.height = GENERATE(1, 2, 5, 10, 24, 60);
  screen.helps = GENERATE(false, true);
  screen.chooses_columns = GENERATE(false, true);
  const auto lines = screen_lines(some_snapshot(), screen);
  CAPTURE(screen.width, screen.height, text_of(lines));
  CHECK(lines.size() <= screen.height);
  // On a very narrow terminal the required columns of a row may be cut.
  if (screen.width < 40) return;
  for (const auto& line : lines) CHECK(columns_of(text_of(line)) <= screen.width);
}

TEST_CASE("80 columns have the percentiles that are asked for most, 200 have all") {
  LiveScreen screen;
  std::string text = text_of(screen_lines(some_snapshot(), screen));
  CHECK(text.contains("nr-softmodem, pid 4242"));
  CHECK(text.contains("12.0 s  146,201 events/s"));
  CHECK(text.contains("last 10 s"));
  CHECK(text.contains("1.50 ms"));
  CHECK(text.contains("4.50 ms"));
  CHECK(text.contains("p99"));
  CHECK(text.contains("in it"));
  screen.width = 200;
  screen.height = 60;
  text = text_of(screen_lines(some_snapshot(), screen));
  for (const char* const words :
       {"p50", "p90", "p99.9", "max", "most", "p99 by second", "place.19"})
    CHECK(text.contains(words));
  CHECK(text.contains("▁▂▃▄▅▆▇█"));
}

TEST_CASE("the columns of both tables stand below each other") {
  LiveScreen screen;
  screen.width = 120;
  const auto lines = screen_lines(some_snapshot(), screen);
  std::vector<std::size_t> at;
  for (const auto& line : lines) {
    const std::string text = text_of(line);
    if (text.contains("p50")) at.push_back(columns_of(text.substr(0, text.find("p99"))));
  }
  REQUIRE(at.size() == 2);
  CHECK(at[0] == at[1]);
}

TEST_CASE("places are sorted as requested, and the selected one is on the screen") {
  const auto snapshot = some_snapshot();
  CHECK(sorted_places(snapshot, LiveSort::kPath, false).front()->name == "place.0");
  CHECK(sorted_places(snapshot, LiveSort::kP99, false).front()->name == "place.19");
  CHECK(sorted_places(snapshot, LiveSort::kDepth, false).front()->name == "place.19");
  LiveScreen screen;
  screen.selected = 18;
  CHECK(text_of(screen_lines(snapshot, screen)).contains("place.18"));
  screen.selected = 0;
  CHECK_FALSE(text_of(screen_lines(snapshot, screen)).contains("place.18"));
}

TEST_CASE("losses, doubts and a filter are shown on top") {
  auto snapshot = some_snapshot();
  snapshot.lost = 12;
  snapshot.losses = {{.cause = model::LossCause::kRingFull, .count = 12}};
  snapshot.filter = "dir == D";
  snapshot.left_out = 3;
  LiveScreen screen;
  screen.width = 160;
  const auto lines = screen_lines(snapshot, screen);
  const std::string text = text_of(lines[1]);
  CHECK(text.contains("12 lost (ring full 12)"));
  CHECK(text.contains("only dir == D"));
  CHECK(text.contains("3 events came too late"));
  CHECK(lines[1].front().look == Look::kBad);
}

TEST_CASE("a terminal without blocks gets plain ASCII") {
  LiveScreen screen;
  screen.width = 200;
  screen.height = 60;
  screen.glyphs = Glyphs::kAscii;
  screen.sort = LiveSort::kP99;
  const std::string text = text_of(screen_lines(some_snapshot(), screen));
  CHECK(std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
}

TEST_CASE("a bar is as long as its share, and a small one is still visible") {
  CHECK(gauge(0, 10, 4, Glyphs::kBlocks) == "    ");
  CHECK(gauge(10, 10, 4, Glyphs::kBlocks) == "████");
  CHECK(gauge(5, 10, 4, Glyphs::kBlocks) == "██  ");
  CHECK(gauge(1, 1'000, 2, Glyphs::kBlocks) == "▏ ");
  CHECK(gauge(5, 10, 4, Glyphs::kAscii) == "##  ");
  CHECK(sparkline({0, 1, 8}, 4, Glyphs::kBlocks) == " ▁█ ");
  CHECK(sparkline({5, 5}, 2, Glyphs::kAscii).size() == 2);
  CHECK(cut("abcdef", 4, Glyphs::kAscii) == "abc~");
  CHECK(cut("abc", 4, Glyphs::kAscii) == "abc");
}

}  // namespace
}  // namespace sojourn::present
