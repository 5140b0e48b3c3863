// Random bytes as an expression: always an error or a filter.
#include <algorithm>
#include <random>

#include <catch2/catch_test_macros.hpp>

#include "analysis/filter/journey_filter.h"
#include "tests/unit/filter/support.h"

namespace sojourn::filter_tests {
namespace {

constexpr std::string_view kWords[] = {
    "len", "rnti", "(",  ")",      "{",      "}",        "!",      "&&",   "||", "==",
    "<",   "in",   "..", "5",      "0x4f",   "1.5ms",    "at(",    "has(", "~",  "rlc.*",
    "'",   "-",    "*",  "/",      "%",      "point",    "dir",    "D",    ",",  "time",
    "hop", "cpu",  "9k", "field(", "event(", "latency",  "+",      "\"",   "=",  "\xff",
    "\n",  "0",    ">",  "!=",     "!~",     "complete", "thread", "[a",   "\\", "phy"};

void try_out(const std::string& text, const model::EventBatch& events, std::size_t& compiled) {
  const auto parsed = filter::parse(text);
  if (!parsed) {
    // An error has three lines for any text: the fault, the expression, the caret.
    const std::string& error = parsed.error().text();
    REQUIRE(std::ranges::count(error, '\n') == 2);
    REQUIRE(error.contains('^'));
    return;
  }
  if (auto filter = filter::EventFilter::compile(*parsed, radio(), {})) {
    ++compiled;
    std::vector<std::uint32_t> rows;
    filter->select(events, rows);
    REQUIRE(rows.size() <= events.size());
  }
  if (const auto filter = filter::JourneyFilter::compile(*parsed, radio(), {})) {
    ++compiled;
    // A journey without events has no field: most conditions are unknown of it.
    (void)(*filter)({.steps = {}});
  }
}

TEST_CASE("random words make an error with a caret or a filter that runs") {
  const auto events = batch({{0, {1, 1}}, {1, {1, 1, 1}}, {2, {1}}, {3, {1, 1}}, {4, {1}}});
  std::mt19937 random(1);
  std::size_t compiled = 0;
  for (int round = 0; round < 40'000; ++round) {
    std::string text;
    for (auto words = random() % 12; words-- > 0;) {
      text += kWords[random() % std::size(kWords)];
      if (random() % 2 == 0) text += ' ';
    }
    CAPTURE(text);
    try_out(text, events, compiled);
  }
  CHECK(compiled > 0);
}

TEST_CASE("expressions with bytes changed, taken out and put in are survived") {
  const auto events = batch({{0, {1, 1}}, {1, {1, 1, 1}}, {2, {1}}, {3, {1, 1}}, {4, {1}}});
  const std::string sound =
      "dir == D && rnti in {0x4601, 5..9} && !(len * 8 > 1.5k || point ~ 'rlc.*') || time < 5ms";
  std::mt19937 random(2);
  std::size_t compiled = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = sound;
    for (auto changes = 1 + random() % 3; changes-- > 0;) {
      const auto at = random() % text.size();
      const auto byte = static_cast<char>(random());
      if (random() % 3 == 0)
        text.erase(at, 1);
      else if (random() % 2 == 0)
        text.insert(at, 1, byte);
      else
        text[at] = byte;
    }
    CAPTURE(text);
    try_out(text, events, compiled);
  }
  CHECK(compiled > 0);
}

}  // namespace
}  // namespace sojourn::filter_tests
