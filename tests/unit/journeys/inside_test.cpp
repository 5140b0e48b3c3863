// The packets that were in the target when the capture ended, even if a flight recorder's threads
// reach back to different times.
#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/unit/journeys/world.h"

namespace sojourn::journeys {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kLine = R"(
    D in--a len:rnti:sn
    D a--b len:rnti:sn
    D b--out len:rnti:sn
)";

constexpr std::string_view kCut = R"(
    D in--rlc len:rnti:psn
    D rlc--mac len:rnti:psn.so
    D mac--out len:rnti:psn.so
)";

constexpr std::string_view kUp = R"(
    U ant--phy len:rnti:slot
    U phy--rlc.rx len:rnti:rsn.so.slot
    U rlc.rx--out len:rnti:rsn
)";

TEST_CASE("a packet that was not seen to leave is inside at the end: where, and since when") {
  World world(kLine);
  world.marks = {.open_ns = 1000, .close_ns = 9000};
  world.events(R"(
    7000 D in--a 1000 1 6
    7100 D a--b 1000 1 6
    7200 D b--out 1000 1 6
    8000 D in--a 1000 1 7
    8100 D a--b 1000 1 7
  )");
  REQUIRE(world.journeys().size() == 2);
  CHECK(world.seen()[0].inside.empty());
  CHECK(world.seen()[1].inside == "b 8100 until 9000");
}

TEST_CASE("a packet in pieces is inside where each of those is that did not leave") {
  World world(kCut);
  world.marks = {.open_ns = 1000, .close_ns = 9000};
  world.events(R"(
    2000 D in--rlc 1000 1 5
    2100 D rlc--mac 300 1 5 0
    2150 D mac--out 300 1 5 0
    2200 D rlc--mac 300 1 5 300
  )");
  REQUIRE(world.journeys().size() == 1);
  CHECK(world.seen()[0].inside == "rlc 2000 mac 2200 until 9000");
}

TEST_CASE("uplink segments that were received and not reassembled are inside") {
  World world(kUp);
  world.marks = {.open_ns = 1000, .close_ns = 9000};
  world.events(R"(
    2000 U ant--phy 500 1 10
    2100 U phy--rlc.rx 500 1 3 0 10
  )");
  REQUIRE(world.journeys().size() == 1);
  CHECK(world.seen()[0].inside == "rlc.rx 2100 until 9000");
}

TEST_CASE("after a loss no unit is said to be inside") {
  World world(kLine);
  world.marks = {.open_ns = 1000, .close_ns = 9000};
  world.events("8000 D in--a 1000 1 7\n 8100 D a--b 1000 1 7");
  world.lose(1);
  world.events("8500 D in--a 1000 1 8");
  REQUIRE(world.journeys().size() == 2);
  CHECK(world.seen()[0].inside.empty());
  CHECK(world.seen()[1].inside.empty());  // it may have left in the very event that was lost
}

TEST_CASE("units that came after the last loss are known to be inside") {
  World world(kLine);
  world.marks = {.open_ns = 1000, .close_ns = 9000};
  world.events("8000 D in--a 1000 1 7");
  world.lose(1);
  world.events("8100 D in--a 1000 1 8\n 8200 D in--a 1000 1 9");
  REQUIRE(world.journeys().size() == 3);
  CHECK(world.seen()[2].inside == "a 8200 until 9000");
}

// The thread of stream 1 overwrites its events before 5000; that of stream 2 still has all.
constexpr std::string_view kReach = R"(
    2000 t1 s2 D in--a 1000 1 1
    2500 t1 s2 D in--a 1000 1 2
    5000 t2 s1 D a--b 1000 1 3
    5100 t2 s1 D b--out 1000 1 3
    6000 t1 s2 D in--a 1000 1 4
)";

TEST_CASE(
    "units that may have left before the open mark are neither inside nor counted in their place") {
  World world(kLine);
  world.marks = {.open_ns = 5000, .close_ns = 9000};
  world.events(kReach);
  const auto journeys = world.journeys();
  REQUIRE(journeys.size() == 4);
  for (const auto& seen : world.seen()) {
    CAPTURE(seen.words);
    const bool came_last = seen.words.contains("in--a@6000");
    CHECK(seen.inside == (came_last ? "a 6000 until 9000" : ""));
    CHECK(seen.journey.outcome == Outcome::kCensored);
  }
  CHECK(world.stays("a") == "a +6000 ~9000");
}

TEST_CASE("a packet that came before the open mark and left after it leaves no hole in its place") {
  World world(kLine);
  world.marks = {.open_ns = 5000, .close_ns = 9000};
  world.events(R"(
    4900 t1 s2 D in--a 1000 1 1
    5000 t2 s1 D a--b 1000 1 1
    5100 t2 s1 D b--out 1000 1 1
  )");
  CHECK(world.journeys() == Lines{"D complete 4900..5100: in--a@4900 a--b@5000<0 b--out@5100<1*"});
  CHECK(world.stays("a") == "a");
  CHECK(world.stays("b") == "b +5000 -5100");
  CHECK(world.hops("a") == "a 100");
}

TEST_CASE("a thread that hung and still has all its events shows the units that it held") {
  // Another thread's ring reaches back to 8000 only; that thread takes nothing out of a.
  World world(R"(
    D in--a len:rnti:sn
    D a--b len:rnti:sn
    D b--out len:rnti:sn
    U x--y len:rnti:sn
  )");
  world.marks = {.open_ns = 8000, .close_ns = 9000};
  world.events(R"(
    1900 t1 s2 D in--a 1000 1 1
    2000 t1 s2 D a--b 1000 1 1
    2100 t2 s1 D b--out 1000 1 1
    3000 t1 s2 D in--a 1000 1 2
    8000 t3 s3 U x--y 100 1 7
  )");
  world.journeys();
  std::size_t inside = 0;
  for (const auto& seen : world.seen()) {
    if (seen.inside.empty() || seen.journey.direction != model::Direction::kDownlink) continue;
    ++inside;
    CHECK(seen.inside == "a 3000 until 9000");
  }
  CHECK(inside == 1);
}

TEST_CASE("units from before the open mark that were never seen again are not incomplete") {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  World world(kLine);
  world.marks = {.open_ns = 5 * kSecond, .close_ns = 100 * kSecond};
  world.events("1000000000 t1 s2 D in--a 1000 1 1\n 99000000000 t1 s2 D in--a 1000 1 2");
  const auto journeys = world.journeys();
  REQUIRE(journeys.size() == 2);
  CHECK(journeys[0] == "D censored 1000000000..1000000000: in--a@1000000000");
}

TEST_CASE("a block that nothing was taken out of in its time had nothing in it, also at the end") {
  World world(kUp);
  world.marks = {.open_ns = 1000, .close_ns = 400'000'000};
  std::string events;
  for (int slot = 1; slot <= 150; ++slot)
    events += fmt::format(
        "{0}000000 U ant--phy 900 1 {0}\n{0}000100 U phy--rlc.rx 800 1 {0} 0 {0}\n"
        "{0}000200 U rlc.rx--out 800 1 {0}\n",
        slot);
  events += "300000000 U ant--phy 900 1 300\n399000000 U ant--phy 900 1 399\n";
  world.events(events);
  CHECK(world.journeys().size() == 151);
  CHECK(world.at("U ant--phy").control == 1);
  CHECK(world.seen().back().inside == "phy 399000000 until 400000000");
}

}  // namespace
}  // namespace sojourn::journeys
