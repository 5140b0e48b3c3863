// Units that get their number as they are cut.
#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/journeys/number_line.h"
#include "tests/unit/journeys/world.h"

namespace sojourn::journeys {
namespace {

using Lines = std::vector<std::string>;
using Place = std::optional<std::int64_t>;
constexpr std::uint64_t kMillisecond = 1'000'000;

// A line that wholes of some lengths join, and out of which pieces come, a microsecond after each
// other.
struct Line {
  NumberLine line{0};
  std::uint64_t now_ns = 0;

  void come(std::uint64_t length, std::optional<std::uint64_t> number = {}) {
    line.add({.ts_ns = ++now_ns, .length = length, .number = number});
  }
  Place go(std::uint64_t number, std::uint64_t begin, std::uint64_t end) {
    return line.place_of({.ts_ns = ++now_ns, .number = number, .begin = begin, .end = end}, true);
  }
};

TEST_CASE("numbers go to units in the order in which they came") {
  Line line;
  for (const int length : {100, 200, 300}) line.come(length);
  CHECK(line.go(0, 0, 60) == 0);
  CHECK(line.go(0, 60, 100) == 0);
  CHECK(line.go(1, 0, 200) == 1);
  CHECK(line.go(0, 60, 100) == 0);  // sent again
  CHECK(line.go(2, 0, 300) == 2);
  CHECK(line.line.is_sure());
}

TEST_CASE("a number that is passed over is that of a unit of which no piece was seen") {
  Line line;
  for (const int length : {100, 200, 300}) line.come(length);
  CHECK(line.go(0, 0, 100) == 0);
  CHECK(line.go(2, 0, 300) == 2);
  CHECK(line.go(1, 0, 200) == 1);  // stamped late
}

TEST_CASE("numbers begin again, whatever bits they have") {
  for (const int bits : {5, 6, 10, 12, 18}) {
    CAPTURE(bits);
    const std::uint64_t all = (std::uint64_t{1} << bits) - 1;
    Line line;
    line.come(100, all - 1);
    CHECK(line.go(all - 1, 0, 100) == 0);
    for (int place = 1; place < 40; ++place) {
      line.come(100);
      const auto number = (all - 1 + static_cast<std::uint64_t>(place)) & all;
      REQUIRE(line.go(number, 0, 100) == place);
      REQUIRE(line.go((number - 1) & all, 0, 100) == place - 1);
    }
  }
}

TEST_CASE("who goes away without a number takes none") {
  Line line;
  for (const int length : {100, 200, 300}) line.come(length);
  CHECK(line.go(0, 0, 100) == 0);
  CHECK(line.line.next_place() == 1);
  line.line.forget_next();
  CHECK(line.go(1, 0, 300) == 1);  // where the third one is now
  CHECK_FALSE(line.line.next_place());
}

TEST_CASE("the number of a unit that was not seen is not the next one's") {
  Line line;
  line.come(100);
  CHECK(line.go(0, 0, 100) == 0);
  CHECK(line.go(1, 0, 200) == std::nullopt);
  CHECK_FALSE(line.line.is_sure());
  line.come(300);
  CHECK(line.go(2, 0, 300) == 1);
}

TEST_CASE("a piece from the middle of what was not seen to begin is nobody's") {
  Line line;
  line.come(100);
  CHECK(line.go(17, 60, 100) == std::nullopt);
  CHECK(line.go(18, 0, 100) == 0);
}

TEST_CASE("whose the first number is, is sure where the unit had the same one") {
  Line line;
  for (const std::uint64_t number : {40, 41, 42}) line.come(100, number);
  CHECK(line.go(41, 0, 100) == 1);
  CHECK(line.line.is_sure());
  Line other;
  other.come(100, 40);
  CHECK(other.go(7, 0, 100) == 0);
  CHECK_FALSE(other.line.is_sure());
}

TEST_CASE("a line that stands still has nobody in it who was not seen") {
  Line line;
  line.come(100);
  CHECK(line.go(7, 0, 100) == 0);
  CHECK_FALSE(line.line.is_sure());
  line.now_ns += 20 * kMillisecond;
  line.come(100);
  CHECK(line.line.is_sure());
  CHECK(line.go(8, 0, 100) == 1);
  // Another one waits, so that it stands still says nothing yet.
  line.line.doubt();
  line.come(100);
  line.now_ns += 20 * kMillisecond;
  line.come(100);
  CHECK_FALSE(line.line.is_sure());
  // But not for so long.
  line.now_ns += 1000 * kMillisecond;
  line.come(300);
  CHECK(line.line.is_sure());
  CHECK(line.go(9, 0, 300) == 4);
}

TEST_CASE("a gap in the numbers that units had before makes the line unsure") {
  Line line;
  line.come(100, 7);
  line.come(100, 8);
  CHECK(line.go(7, 0, 100) == 0);
  CHECK(line.line.is_sure());
  line.come(100, 10);
  CHECK_FALSE(line.line.is_sure());
}

// Of twenty that waited before the first that was seen, nothing is known but that their lengths
// differ.
TEST_CASE("lengths say whose the numbers are, where the line's beginning was not seen") {
  std::mt19937 random(3);
  constexpr int kBefore = 20;
  constexpr int kAll = 200;
  std::vector<std::uint64_t> lengths(kAll);
  for (auto& length : lengths) length = 60 + random() % 4 * 100;
  Line line;
  int come = kBefore;
  int wrong = 0;
  for (int number = 0; number < kAll; ++number) {
    for (; come < kAll && come < number + kBefore; ++come)
      line.come(lengths[static_cast<std::size_t>(come)]);
    const auto place = line.go(1000 + static_cast<std::uint64_t>(number), 0,
                               lengths[static_cast<std::size_t>(number)]);
    const Place true_place = number < kBefore ? Place() : Place(number - kBefore);
    if (place == true_place) continue;
    ++wrong;
    CHECK_FALSE(line.line.is_sure());
  }
  CHECK(line.line.is_sure());
  CHECK(wrong <= 2 * kBefore);
}

TEST_CASE("lengths of one kind say nothing") {
  Line line;
  for (int i = 0; i < 100; ++i) {
    line.come(1400);
    CHECK(line.go(1000 + static_cast<std::uint64_t>(i), 0, 1400) == i);
  }
  CHECK_FALSE(line.line.is_sure());
}

constexpr const char* kCut = R"(
  D ip.in--rlc.tx len:rnti:lcid.psn
  D rlc.tx--rlc.drop :rnti:psn
  D rlc.tx--mac.mux len:rnti:lcid.sn.so
  D mac.mux--out len:rnti:lcid.sn.so
)";

TEST_CASE("what is numbered as it is cut keeps its pieces together") {
  World world(kCut);
  world.events(R"(
    100 t1 D ip.in--rlc.tx 1000 1 4 70
    110 t1 D ip.in--rlc.tx 500 1 4 71
    120 t1 D ip.in--rlc.tx 300 1 4 72
    200 t2 D rlc.tx--mac.mux 600 1 4 0 0
    210 t2 D mac.mux--out 600 1 4 0 0
    220 t2 D rlc.tx--mac.mux 400 1 4 0 600
    230 t2 D mac.mux--out 400 1 4 0 600
    240 t2 D rlc.tx--mac.mux 500 1 4 1 0
    250 t2 D mac.mux--out 500 1 4 1 0
    260 t2 D rlc.tx--mac.mux 300 1 4 2 0
    270 t2 D mac.mux--out 300 1 4 2 0
  )");
  CHECK(world.journeys() ==
        Lines{"D complete 100..230: ip.in--rlc.tx@100 rlc.tx--mac.mux@200<0 mac.mux--out@210<1 "
              "rlc.tx--mac.mux@220<0 mac.mux--out@230<3*",
              "D complete 110..250: ip.in--rlc.tx@110 rlc.tx--mac.mux@240<0 mac.mux--out@250<1*",
              "D complete 120..270: ip.in--rlc.tx@120 rlc.tx--mac.mux@260<0 mac.mux--out@270<1*"});
  for (const auto& seen : world.seen()) CHECK_FALSE(seen.journey.ambiguous);
}

TEST_CASE("what is dropped before it is cut takes no number") {
  World world(kCut);
  world.events(R"(
    100 t1 D ip.in--rlc.tx 1000 1 4 70
    110 t1 D ip.in--rlc.tx 500 1 4 71
    130 t1 D rlc.tx--rlc.drop 1 70
    240 t2 D rlc.tx--mac.mux 500 1 4 0 0
    250 t2 D mac.mux--out 500 1 4 0 0
  )");
  CHECK(world.journeys() ==
        Lines{"D dropped 100..130: ip.in--rlc.tx@100 rlc.tx--rlc.drop@130<0",
              "D complete 110..250: ip.in--rlc.tx@110 rlc.tx--mac.mux@240<0 mac.mux--out@250<1*"});
}

TEST_CASE("lines of bearers and of UEs are lines of their own") {
  World world(kCut);
  world.events(R"(
    100 t1 D ip.in--rlc.tx 100 1 4 70
    110 t1 D ip.in--rlc.tx 100 1 5 70
    120 t1 D ip.in--rlc.tx 100 2 4 70
    200 t2 D rlc.tx--mac.mux 100 2 4 0 0
    210 t2 D rlc.tx--mac.mux 100 1 5 0 0
    220 t2 D rlc.tx--mac.mux 100 1 4 0 0
    230 t2 D mac.mux--out 100 1 4 0 0
    240 t2 D mac.mux--out 100 1 5 0 0
    250 t2 D mac.mux--out 100 2 4 0 0
  )");
  auto journeys = world.journeys();
  std::ranges::sort(journeys);
  CHECK(journeys ==
        Lines{"D complete 100..230: ip.in--rlc.tx@100 rlc.tx--mac.mux@220<0 mac.mux--out@230<1*",
              "D complete 110..240: ip.in--rlc.tx@110 rlc.tx--mac.mux@210<0 mac.mux--out@240<1*",
              "D complete 120..250: ip.in--rlc.tx@120 rlc.tx--mac.mux@200<0 mac.mux--out@250<1*"});
}

TEST_CASE("where what waited at the start is not known, whose a number is is flagged") {
  World world(kCut);
  world.events(R"(
    100 t1 D ip.in--rlc.tx 100 1 4 70
    200 t2 D rlc.tx--mac.mux 100 1 4 12 0
    210 t2 D mac.mux--out 100 1 4 12 0
  )");
  CHECK(world.journeys().size() == 1);
  REQUIRE(world.seen().size() == 1);
  CHECK(world.seen()[0].journey.ambiguous);
  CHECK(world.seen()[0].doubts == Lines{"1 number"});
}

TEST_CASE("lost events make lines unsure") {
  World world(kCut);
  world.events(R"(
    100 t1 D ip.in--rlc.tx 100 1 4 70
    200 t2 D rlc.tx--mac.mux 100 1 4 0 0
    210 t2 D mac.mux--out 100 1 4 0 0
  )");
  world.lose(1);
  world.events(R"(
    300 t1 D ip.in--rlc.tx 100 1 4 71
    400 t2 D rlc.tx--mac.mux 100 1 4 1 0
    410 t2 D mac.mux--out 100 1 4 1 0
  )");
  CHECK(world.journeys().size() == 2);
  REQUIRE(world.seen().size() == 2);
  CHECK_FALSE(world.seen()[0].journey.ambiguous);
  CHECK(world.seen()[1].journey.ambiguous);
}

}  // namespace
}  // namespace sojourn::journeys
