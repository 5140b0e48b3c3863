// The doubts about a journey, and its alternatives.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/journeys/world.h"

namespace sojourn::journeys {
namespace {

using Lines = std::vector<std::string>;

constexpr std::uint64_t kSecond = 1'000'000'000;

constexpr std::string_view kLine = R"(
    D in--a len:rnti:sn.gsn
    D a--b len:rnti:sn
    D b--out len:rnti:sn
)";

constexpr std::string_view kUp = R"(
    U ant--phy len.round:rnti:harq.slot
    U phy--demux len:rnti:harq.slot
    U phy--drop len:rnti:harq.slot
    U demux--rlc.rx len:rnti:drb.rsn.so.slot
    U rlc.rx--out len:rnti:drb.rsn.psn
)";

TEST_CASE("alternatives are named, the nearest first") {
  World world(kLine);
  world.events(R"(
    100 t1 s1 D in--a 1000 1 7 71
    105 t1 s1 D in--a 1000 1 7 72
    107 t1 s1 D in--a 1000 1 7 73
    110 t2 s2 D a--b 1000 1 7
    120 t2 s2 D b--out 1000 1 7
  )");
  CHECK(world.journeys()[0] == "D complete 107..120: in--a@107 a--b@110<0 b--out@120<1*");
  CHECK(world.seen()[0].doubts ==
        Lines{"1 others in--a@105(1000 1 7 72)s1#1 in--a@100(1000 1 7 71)s1#0"});
  CHECK(world.seen()[0].journey.alternatives == 2);
  for (std::size_t i = 1; i < world.seen().size(); ++i) CHECK(world.seen()[i].doubts.empty());
}

TEST_CASE("if more alternatives fitted than are named, the text says so") {
  for (const int others : {8, 9}) {
    World world(kLine);
    std::string events;
    for (int i = 0; i <= others; ++i)
      events += std::to_string(100 + i) + " t1 D in--a 1000 1 7 " + std::to_string(i) + "\n";
    world.events(events + "200 t2 D a--b 1000 1 7\n210 t2 D b--out 1000 1 7\n");
    world.journeys();
    const auto& seen = world.seen()[0];
    CHECK(seen.journey.alternatives == 8);
    REQUIRE(seen.doubts.size() == 1);
    CHECK(seen.doubts[0].ends_with(" more") == (others == 9));
  }
}

TEST_CASE("an alternative is reported as it was, though it has ended long before and others came") {
  World world(kLine);
  std::string events = R"(
    100 t1 D in--a 1000 1 7 71
    105 t1 D in--a 1000 1 7 72
    110 t2 D a--b 1000 1 7
    115 t2 D a--b 1000 1 7
    116 t2 D b--out 1000 1 7
  )";
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const auto number = std::to_string(1000 + i);
    const auto at_ns = kSecond + i * 1'000'000;
    events += std::to_string(at_ns) + " D in--a 500 1 " + number + " 9\n";
    events += std::to_string(at_ns + 1) + " D a--b 500 1 " + number + "\n";
    events += std::to_string(at_ns + 2) + " D b--out 500 1 " + number + "\n";
  }
  world.events(events + std::to_string(3 * kSecond) + " t2 D b--out 1000 1 7\n");
  world.journeys();
  const auto is_late = [](const auto& seen) { return seen.journey.latency_ns() > kSecond; };
  const auto late = std::ranges::find_if(world.seen(), is_late);
  REQUIRE(late != world.seen().end());
  CHECK(late->words == "D complete 105..3000000000: in--a@105 a--b@110<0 b--out@3000000000<1*");
  CHECK(late->doubts == Lines{"1 others in--a@100(1000 1 7 71)s0#0"});
}

TEST_CASE("a wait far longer than any before is ambiguous if events were lost") {
  World world(kLine);
  std::string events = "5 D in--a 1000 1 7 7\n";
  for (std::uint64_t i = 0; i < 200; ++i) {
    const auto number = std::to_string(1000 + i);
    events += std::to_string(1000 * i + 10) + " D in--a 1000 1 " + number + " 0\n";
    events += std::to_string(1000 * i + 20) + " D a--b 1000 1 " + number + "\n";
    events += std::to_string(1000 * i + 30) + " D b--out 1000 1 " + number + "\n";
  }
  world.events(events);
  world.lose(1);
  world.events(std::to_string(kSecond / 2) + " t9 D a--b 1000 1 7\n" +
               std::to_string(kSecond / 2 + 10) + " D b--out 1000 1 7\n");
  world.journeys();
  const auto is_doubtful = [](const auto& seen) { return !seen.doubts.empty(); };
  CHECK(std::ranges::count_if(world.seen(), is_doubtful) == 1);
  const auto& seen = *std::ranges::find_if(world.seen(), is_doubtful);
  CHECK(seen.doubts == Lines{"1 wait"});
  CHECK(seen.journey.ambiguous);
  CHECK(seen.journey.alternatives == 0);
}

TEST_CASE("a branch of a unit that had left already is ambiguous if events were lost") {
  World world(R"(
    D in--a len:rnti:sn
    D a--b len:rnti:sn.leg
    D b--out len:rnti:sn.leg
  )");
  world.events(R"(
    100 D in--a 1000 1 7
    110 D a--b 1000 1 7 0
    120 D b--out 1000 1 7 0
  )");
  world.lose(1);
  world.events(R"(
    130 D a--b 1000 1 7 1
    140 D b--out 1000 1 7 1
  )");
  CHECK(world.journeys()[0] ==
        "D complete 100..140: in--a@100 a--b@110<0 b--out@120<1 a--b@130<0 b--out@140<3*");
  CHECK(world.seen()[0].doubts == Lines{"3 branch"});
}

TEST_CASE("a repeat of a unit that had left already is ambiguous if events were lost") {
  World world(kLine);
  world.events(R"(
    100 D in--a 1000 1 7 7
    110 D a--b 1000 1 7
    120 D b--out 1000 1 7
  )");
  world.lose(1);
  world.events("130 D b--out 1000 1 7\n");
  CHECK(world.journeys()[0] ==
        "D complete 100..120: in--a@100 a--b@110<0 b--out@120<1* b--out@130<1=2");
  CHECK(world.seen()[0].doubts == Lines{"3 branch"});
}

TEST_CASE("two copies that wait, as a drop was lost, are both ambiguous") {
  World world(R"(
    U ant--rlc len:rnti:lcid.psn
    U rlc--pdcp len:rnti:lcid.psn
    U pdcp--drop len:rnti:lcid.psn
    U pdcp--out len:rnti:psn.gsn
  )");
  world.events(R"(
    100 U ant--rlc 500 1 4 7
    105 U rlc--pdcp 500 1 4 7
    110 U ant--rlc 500 1 5 7
    115 U rlc--pdcp 500 1 5 7
  )");
  world.lose(1);
  world.events("120 U pdcp--out 500 1 7 0\n");
  CHECK(world.journeys()[0] ==
        "U complete 100..120: ant--rlc@100 rlc--pdcp@105<0 ant--rlc@110 rlc--pdcp@115<2 "
        "pdcp--out@120<1,3*");
  CHECK(world.seen()[0].doubts == Lines{"4 overlap"});
}

TEST_CASE("a unit that only its process identifies is ambiguous if events were lost") {
  World world(kUp);
  world.events("100 U ant--phy 700 0 1 0 10\n");
  world.lose(1);
  world.events(R"(
    200 U ant--phy 700 1 1 0 20
    205 U phy--demux 700 1 0 20
    206 U demux--rlc.rx 600 1 2 9 0 20
    210 U rlc.rx--out 600 1 2 9 5
  )");
  CHECK(world.journeys()[0] ==
        "U complete 100..210: ant--phy@100 ant--phy@200=0 phy--demux@205<1 demux--rlc.rx@206<2 "
        "rlc.rx--out@210<3*");
  CHECK(world.seen()[0].doubts == Lines{"1 process"});
}

TEST_CASE("pieces that overlap are ambiguous if events were lost") {
  World world(kUp);
  world.events(R"(
    100 U ant--phy 700 0 1 0 10
    105 U phy--demux 700 1 0 10
    106 U demux--rlc.rx 300 1 2 9 0 10
  )");
  world.lose(1);
  world.events(R"(
    200 U ant--phy 700 0 1 1 20
    205 U phy--demux 700 1 1 20
    206 U demux--rlc.rx 500 1 2 9 0 20
    210 U rlc.rx--out 500 1 2 9 5
  )");
  CHECK(world.journeys()[0] ==
        "U complete 100..210: ant--phy@100 phy--demux@105<0 demux--rlc.rx@106<1 ant--phy@200 "
        "phy--demux@205<3 demux--rlc.rx@206<4 rlc.rx--out@210<2,5*");
  CHECK(world.seen()[0].doubts == Lines{"6 overlap"});
}

TEST_CASE("a piece that was left out for its unknown beginning is ambiguous if events were lost") {
  World world(kUp);
  world.events("100000 U ant--phy 700 0 1 0 10\n");
  world.lose(2);
  world.events(R"(
    106000 U demux--rlc.rx 300 1 2 9 0 11
    200000 U ant--phy 700 0 1 1 20
    205000 U phy--demux 700 1 1 20
    206000 U demux--rlc.rx 500 1 2 9 0 20
    210000 U rlc.rx--out 500 1 2 9 5
  )");
  CHECK(world.journeys()[0] ==
        "U complete 200000..210000: ant--phy@200000 phy--demux@205000<0 demux--rlc.rx@206000<1 "
        "rlc.rx--out@210000<2*");
  CHECK(world.seen()[0].doubts == Lines{"3 stranger"});
}

TEST_CASE(
    "of two bearers' units with one number, which the child names another way, it takes one") {
  World world("U rlc--pdcp len:rnti:lcid.sn.psn U pdcp--out len:rnti:drb.psn");
  world.events(R"(
    100 U rlc--pdcp 500 1 4 7 9
    110 U rlc--pdcp 600 1 5 3 9
    120 U pdcp--out 600 1 2 9
    130 U pdcp--out 500 1 1 9
  )");
  CHECK(world.journeys() == Lines{"U complete 110..120: rlc--pdcp@110 pdcp--out@120<0*",
                                  "U complete 100..130: rlc--pdcp@100 pdcp--out@130<0*"});
}

TEST_CASE("of several that wait under one key, the nearest that is as long is taken") {
  World world(kLine);
  world.events(R"(
    100 t1 s1 D in--a 900 1 7 71
    105 t1 s1 D in--a 1000 1 7 72
    107 t1 s1 D in--a 1000 1 7 73
    110 t2 s2 D a--b 900 1 7
    120 t2 s2 D b--out 900 1 7
  )");
  CHECK(world.journeys()[0] == "D complete 100..120: in--a@100 a--b@110<0 b--out@120<1*");
  CHECK(world.seen()[0].doubts ==
        Lines{"1 others in--a@107(1000 1 7 73)s1#2 in--a@105(1000 1 7 72)s1#1"});
}

}  // namespace
}  // namespace sojourn::journeys
