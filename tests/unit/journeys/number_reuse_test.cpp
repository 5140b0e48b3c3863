// Sequence numbers that are used again, by one sender or by several, while pieces of older units
// wait under them.
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/journeys/reuse_points.h"
#include "tests/unit/journeys/world.h"

namespace sojourn::journeys {
namespace {

using Lines = std::vector<std::string>;

TEST_CASE("pieces that are left over under a number do not get into the next packet of it") {
  // Two of its own in both; the left-over one fits in the second, and is too long for the third.
  World world(kUp);
  world.events(R"(
    100 U rlc--sdu 60 70 5 0
    110 U rlc--sdu 40 71 5 60
    120 U sdu--out 100 5
    200 U rlc--sdu 60 70 5 0
    3000000000 U rlc--sdu 50 70 5 0
    3000000010 U rlc--sdu 30 71 5 50
    3000000020 U sdu--out 80 5
    3000000100 U rlc--sdu 2000 72 6 0
    3000000200 U rlc--sdu 10 73 6 0
    3000000210 U sdu--out 10 6
  )");
  world.journeys();
  std::vector<std::string> out;
  for (const auto& seen : world.seen())
    if (seen.words.contains("sdu--out"))
      out.push_back(seen.words.substr(seen.words.find(": ") + 2));
  CHECK(out == Lines{"rlc--sdu@100 rlc--sdu@110 sdu--out@120<0,1",
                     "rlc--sdu@3000000000 rlc--sdu@3000000010 sdu--out@3000000020<0,1",
                     "rlc--sdu@3000000200 sdu--out@3000000210<0"});
  CHECK(world.totals().missing_pieces == 0);
}

TEST_CASE("a whole unit of another bearer does not take pieces that wait under its number") {
  World world(kUp);
  world.events(R"(
    100 U start--dec 7 3 0
    110 U dec--demux 200 7 3 0
    120 U demux--rlc 23 7 3 4 77
    130 U rlc--sdu 20 77 5 0
    200 U rlc--sdu 60 90 5 0
    210 U sdu--out 60 5
    300 U start--dec 8 4 0
    310 U dec--demux 200 8 4 0
    320 U demux--rlc 83 8 4 4 78
    330 U rlc--sdu 80 78 5 20
    340 U sdu--out 100 5
  )");
  world.journeys();
  std::vector<std::string> out;
  for (const auto& seen : world.seen())
    if (seen.words.contains("sdu--out")) out.push_back(seen.words);
  REQUIRE(out.size() == 2);
  CHECK(out[0].ends_with(": rlc--sdu@200 sdu--out@210<0"));
  CHECK(out[1].starts_with("U complete 100..340: "));
}

TEST_CASE(
    "pieces of two bearers with one number are distinguished by the unit that they came from") {
  World world(R"(
    U demux--rlc len::fm.lcid.MRbuf
    U rlc--sdu len::MRbuf.sn.so
    U sdu--out len::sn
  )");
  world.events(R"(
    100 U demux--rlc 53 7 4 70
    101 U rlc--sdu 50 70 5 0
    110 U demux--rlc 33 7 5 80
    111 U rlc--sdu 30 80 5 0
    120 U demux--rlc 53 8 4 90
    121 U rlc--sdu 50 90 5 50
    122 U sdu--out 100 5
    130 U demux--rlc 73 8 5 70
    131 U rlc--sdu 70 70 5 30
    132 U sdu--out 100 5
  )");
  CHECK(world.journeys() ==
        Lines{"U complete 100..122: demux--rlc@100 rlc--sdu@101<0 demux--rlc@120 rlc--sdu@121<2 "
              "sdu--out@122<1,3*",
              "U complete 110..132: demux--rlc@110 rlc--sdu@111<0 demux--rlc@130 rlc--sdu@131<2 "
              "sdu--out@132<1,3*"});
}

constexpr std::string_view kUnplaced = R"(
    U demux--rlc len::fm.lcid.MRbuf
    U rlc--sdu len::MRbuf.sn
    U sdu--out len::sn
)";

TEST_CASE("pieces of two bearers without offsets are distinguished by their sums of lengths") {
  World world(kUnplaced);
  world.events(R"(
    100 U demux--rlc 53 7 4 70
    101 U rlc--sdu 50 70 5
    110 U demux--rlc 33 7 5 80
    111 U rlc--sdu 30 80 5
    120 U demux--rlc 53 8 4 90
    121 U rlc--sdu 50 90 5
    130 U demux--rlc 33 8 5 80
    131 U rlc--sdu 30 80 5
    132 t1 U sdu--out 100 5
    140 U demux--rlc 23 9 5 70
    141 U rlc--sdu 20 70 5
    142 U sdu--out 80 5
  )");
  CHECK(world.journeys() ==
        Lines{"U complete 100..132: demux--rlc@100 rlc--sdu@101<0 demux--rlc@120 rlc--sdu@121<2 "
              "sdu--out@132<1,3*",
              "U complete 110..142: demux--rlc@110 rlc--sdu@111<0 demux--rlc@130 rlc--sdu@131<2 "
              "demux--rlc@140 rlc--sdu@141<4 sdu--out@142<1,3,5*"});
  for (const auto& seen : world.seen()) CHECK(seen.doubts.empty());
}

TEST_CASE(
    "if no bearer's lengths add up, the unit belongs to the bearer of the thread's last piece") {
  for (const bool other_thread : {false, true}) {
    World world(kUnplaced);
    world.events(R"(
      100 U demux--rlc 55 7 4 70
      101 U rlc--sdu 52 70 5
      110 U demux--rlc 35 7 5 80
      111 U rlc--sdu 32 80 5
      120 U demux--rlc 55 8 4 90
      121 U rlc--sdu 52 90 5
    )");
    world.events(other_thread ? "122 t1 U sdu--out 100 5" : "122 U sdu--out 100 5");
    CHECK(world.journeys()[0] ==
          "U complete 100..122: demux--rlc@100 rlc--sdu@101<0 demux--rlc@120 rlc--sdu@121<2 "
          "sdu--out@122<1,3*");
    CHECK(world.seen()[0].doubts ==
          (other_thread ? Lines{"4 others rlc--sdu@111(32 80 5)s0#3"} : Lines{}));
  }
}

TEST_CASE("pieces of two senders with one number are distinguished by how they make up a whole") {
  World world("U ant--rlc len::sn.so U rlc--out len::sn");
  // A segment of the longer unit that comes before the shorter one is whole shows that there are
  // two.
  world.events(R"(
    10 U ant--rlc 40 6 80
    20 U ant--rlc 60 6 0
    25 U ant--rlc 40 6 60
    30 U rlc--out 100 6
    40 U ant--rlc 80 6 0
    50 U rlc--out 120 6
  )");
  world.events(R"(
    100 U ant--rlc 60 7 0
    110 U ant--rlc 50 7 0
    120 U ant--rlc 70 7 50
    130 U ant--rlc 40 7 60
    140 U rlc--out 100 7
    150 U rlc--out 120 7
  )");
  const auto journeys = world.journeys();
  REQUIRE(journeys.size() == 4);
  CHECK(journeys[1] == "U complete 100..140: ant--rlc@100 ant--rlc@130 rlc--out@140<0,1*");
  CHECK(journeys[2] == "U complete 110..150: ant--rlc@110 ant--rlc@120 rlc--out@150<0,1*");
  // A piece of the other sender would have fitted into the shorter one.
  CHECK(world.seen()[1].doubts == Lines{"2 others ant--rlc@110(50 7 0)s0#7"});
  CHECK(world.seen()[2].doubts == Lines{"2 sender"});
  // It is reported late because it left a segment behind. By then two senders are known.
  CHECK(journeys[3] == "U complete 20..30: ant--rlc@20 ant--rlc@25 rlc--out@30<0,1*");
  CHECK(world.seen()[3].doubts == Lines{"2 sender"});
  CHECK(world.totals().mixed_senders);
}

TEST_CASE("with one sender, a left-over piece is no sign of another one") {
  World world("U ant--rlc len::sn.so U rlc--out len::sn");
  world.events(R"(
    10 U ant--rlc 500 7 0
    100 U ant--rlc 50 7 0
    110 U ant--rlc 120 7 0
    140 U rlc--out 120 7
  )");
  CHECK(world.journeys()[0] == "U complete 100..140: ant--rlc@100 ant--rlc@110 rlc--out@140<0,1*");
  CHECK_FALSE(world.seen()[0].journey.ambiguous);
  CHECK_FALSE(world.totals().mixed_senders);
}

TEST_CASE(
    "with one sender, pieces that were cut anew all belong to the unit, though fewer would do") {
  World world("U ant--rlc len::sn.so U rlc--out len::sn");
  world.events(R"(
    100 U ant--rlc 50 7 0
    110 U ant--rlc 120 7 0
    140 U rlc--out 120 7
  )");
  CHECK(world.journeys() ==
        Lines{"U complete 100..140: ant--rlc@100 ant--rlc@110 rlc--out@140<0,1*"});
  CHECK_FALSE(world.seen()[0].journey.ambiguous);
}

}  // namespace
}  // namespace sojourn::journeys
