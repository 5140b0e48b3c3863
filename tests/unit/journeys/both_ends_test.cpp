// Both ends of a radio link in one trace: pieces of several packets go through one block.
#include <algorithm>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/unit/journeys/world.h"

namespace sojourn::journeys {
namespace {

using Lines = std::vector<std::string>;

// A sender's points up to the air, and a receiver's from there on. `%` is replaced by the
// direction.
constexpr std::string_view kLink = R"(
    % in--tx len:rnti:lcid.sn
    % tx--mux len:rnti:lcid.sn.so.slot
    % tx.ctrl--mux len:rnti:lcid.slot
    % mux--phy len:rnti:harq.slot
    % phy--air len.round:rnti:harq.slot
    % air--dec len.round:rnti:harq.slot
    % dec--demux len:rnti:harq.slot
    % dec--drop len:rnti:harq.slot
    % demux--rx len:rnti:lcid.sn.so.slot
    % demux--rx.ctrl len:rnti:lcid.slot
    % rx--out len:rnti:lcid.sn
)";

std::string in_direction(std::string_view text, char letter) {
  std::string result(text);
  std::ranges::replace(result, '%', letter);
  return result;
}

Lines rebuilt(std::string_view points, char letter, std::string_view events) {
  World world(in_direction(points, letter));
  world.events(in_direction(events, letter));
  return world.journeys();
}

TEST_CASE("a unit that leaves a block belongs to the packet that went in, not to its neighbours") {
  const auto letter = GENERATE('U', 'D');
  World world(in_direction(kLink, letter));
  world.events(in_direction(R"(
    100 % in--tx 300 1 4 7
    110 % in--tx 500 1 4 8
    200 % tx--mux 300 1 4 7 0 2
    201 % tx--mux 200 1 4 8 0 2
    202 % mux--phy 510 1 0 2
    210 % phy--air 510 0 1 0 2
    250 % air--dec 510 0 1 0 2
    260 % dec--demux 510 1 0 2
    270 % demux--rx 300 1 4 7 0 2
    271 % rx--out 300 1 4 7
    272 % demux--rx 200 1 4 8 0 2
    300 % tx--mux 300 1 4 8 200 3
    302 % mux--phy 305 1 1 3
    310 % phy--air 305 0 1 1 3
    350 % air--dec 305 0 1 1 3
    360 % dec--demux 305 1 1 3
    370 % demux--rx 300 1 4 8 200 3
    371 % rx--out 500 1 4 8
  )",
                            letter));
  CHECK(world.journeys() ==
        Lines{in_direction("% complete 100..271: in--tx@100 tx--mux@200<0 mux--phy@202<1 "
                           "phy--air@210<2 air--dec@250<3 dec--demux@260<4 demux--rx@270<5 "
                           "rx--out@271<6*",
                           letter),
              in_direction("% complete 110..371: in--tx@110 tx--mux@201<0 mux--phy@202<1 "
                           "phy--air@210<2 air--dec@250<3 dec--demux@260<4 demux--rx@272<5 "
                           "tx--mux@300<0 mux--phy@302<7 phy--air@310<8 air--dec@350<9 "
                           "dec--demux@360<10 demux--rx@370<11 rx--out@371<6,12*",
                           letter)});
  CHECK(world.seen()[0].journey.segments == 1);
  CHECK(world.seen()[1].journey.segments == 2);
}

TEST_CASE("a later round of a block, in another slot, belongs to the packets that went into it") {
  const auto letter = GENERATE('U', 'D');
  World world(in_direction(kLink, letter));
  // The round comes when the first one's sending would long be forgotten.
  world.events(in_direction(R"(
    100 % in--tx 300 1 4 7
    110 % in--tx 200 1 4 8
    200 % tx--mux 300 1 4 7 0 2
    201 % tx--mux 200 1 4 8 0 2
    202 % mux--phy 510 1 0 2
    210 % phy--air 510 0 1 0 2
    250 % air--dec 510 0 1 0 2
    500000000 % phy--air 510 1 1 0 6
    500000050 % air--dec 510 1 1 0 6
    500000060 % dec--demux 510 1 0 6
    900000070 % demux--rx 300 1 4 7 0 6
    900000071 % rx--out 300 1 4 7
    900000072 % demux--rx 200 1 4 8 0 6
    900000073 % rx--out 200 1 4 8
  )",
                            letter));
  CHECK(world.journeys() ==
        Lines{in_direction("% complete 100..900000071: in--tx@100 tx--mux@200<0 mux--phy@202<1 "
                           "phy--air@210<2 air--dec@250<3 phy--air@500000000<2=3 "
                           "air--dec@500000050<5=4 dec--demux@500000060<6 demux--rx@900000070<7 "
                           "rx--out@900000071<8*",
                           letter),
              in_direction("% complete 110..900000073: in--tx@110 tx--mux@201<0 mux--phy@202<1 "
                           "phy--air@210<2 air--dec@250<3 phy--air@500000000<2=3 "
                           "air--dec@500000050<5=4 dec--demux@500000060<6 demux--rx@900000072<7 "
                           "rx--out@900000073<8*",
                           letter)});
  CHECK(world.seen()[0].journey.harq_retransmissions == 1);
}

TEST_CASE("a piece that is sent again comes out of the block that it is in") {
  const auto letter = GENERATE('U', 'D');
  const auto journeys = rebuilt(kLink, letter, R"(
    100 % in--tx 300 1 4 7
    110 % in--tx 200 1 4 8
    200 % tx--mux 300 1 4 7 0 2
    202 % mux--phy 305 1 0 2
    210 % phy--air 305 0 1 0 2
    250 % air--dec 305 0 1 0 2
    260 % dec--drop 305 1 0 2
    300 % tx--mux 300 1 4 7 0 3
    301 % tx--mux 200 1 4 8 0 3
    302 % mux--phy 510 1 1 3
    310 % phy--air 510 0 1 1 3
    350 % air--dec 510 0 1 1 3
    360 % dec--demux 510 1 1 3
    370 % demux--rx 300 1 4 7 0 3
    371 % rx--out 300 1 4 7
    372 % demux--rx 200 1 4 8 0 3
    373 % rx--out 200 1 4 8
  )");
  const std::string up =
      "U complete 100..371: in--tx@100 tx--mux@200<0 tx--mux@300<0=1 mux--phy@302<2 phy--air@310<3 "
      "air--dec@350<4 dec--demux@360<5 demux--rx@370<6 rx--out@371<7*";
  const std::string down =
      "D complete 100..371: in--tx@100 tx--mux@200<0 mux--phy@202<1 phy--air@210<2 air--dec@250<3 "
      "dec--drop@260<4 tx--mux@300<0=1 mux--phy@302<6 phy--air@310<7 air--dec@350<8 "
      "dec--demux@360<9 demux--rx@370<10 rx--out@371<11*";
  CHECK(std::ranges::count(journeys, letter == 'U' ? up : down) == 1);
  CHECK(std::ranges::count(
            journeys, in_direction("% complete 110..373: in--tx@110 tx--mux@301<0 mux--phy@302<1 "
                                   "phy--air@310<2 air--dec@350<3 dec--demux@360<4 demux--rx@372<5 "
                                   "rx--out@373<6*",
                                   letter)) == 1);
}

TEST_CASE("control in a block, and UEs and bearers with the same numbers, are kept apart") {
  const auto letter = GENERATE('U', 'D');
  const auto journeys = rebuilt(kLink, letter, R"(
    100 % in--tx 300 1 4 7
    101 % in--tx 300 1 5 7
    102 % in--tx 300 2 4 7
    200 % tx.ctrl--mux 3 1 1 2
    201 % tx--mux 300 1 4 7 0 2
    202 % tx--mux 300 1 5 7 0 2
    203 % mux--phy 620 1 0 2
    204 % tx--mux 300 2 4 7 0 2
    205 % mux--phy 305 2 0 2
    210 % phy--air 620 0 1 0 2
    211 % phy--air 305 0 2 0 2
    250 % air--dec 620 0 1 0 2
    251 % air--dec 305 0 2 0 2
    260 % dec--demux 620 1 0 2
    261 % dec--demux 305 2 0 2
    270 % demux--rx.ctrl 3 1 1 2
    271 % demux--rx 300 1 5 7 0 2
    272 % rx--out 300 1 5 7
    273 % demux--rx 300 2 4 7 0 2
    274 % rx--out 300 2 4 7
    275 % demux--rx 300 1 4 7 0 2
    276 % rx--out 300 1 4 7
  )");
  REQUIRE(journeys.size() == 3);
  for (const auto* const way :
       {"% complete 100..276: in--tx@100 tx--mux@201<0 mux--phy@203<1 phy--air@210<2 "
        "air--dec@250<3 dec--demux@260<4 demux--rx@275<5 rx--out@276<6*",
        "% complete 101..272: in--tx@101 tx--mux@202<0 mux--phy@203<1 phy--air@210<2 "
        "air--dec@250<3 dec--demux@260<4 demux--rx@271<5 rx--out@272<6*",
        "% complete 102..274: in--tx@102 tx--mux@204<0 mux--phy@205<1 phy--air@211<2 "
        "air--dec@251<3 dec--demux@261<4 demux--rx@273<5 rx--out@274<6*"})
    CHECK(std::ranges::count(journeys, in_direction(way, letter)) == 1);
}

constexpr std::string_view kOneComesOut = R"(
    100 % in--tx 300 1 4 7
    110 % in--tx 200 1 4 8
    200 % tx--mux 300 1 4 7 0 2
    201 % tx--mux 200 1 4 8 0 2
    202 % mux--phy 510 1 0 2
    210 % phy--air 510 0 1 0 2
    250 % air--dec 510 0 1 0 2
    260 % dec--demux 510 1 0 2
    270 % demux--rx 300 1 4 7 0 2
    271 % rx--out 300 1 4 7
)";

TEST_CASE("a packet of which nothing comes out of its block is given up in its time") {
  World world(in_direction(kLink, 'D'));
  world.events(in_direction(kOneComesOut, 'D'));
  world.events(R"(
    11000000000 D in--tx 300 1 4 9
    11000000001 D in--tx 300 1 4 10
  )");
  REQUIRE(world.seen().size() == 2);
  CHECK(world.seen()[0].words ==
        "D complete 100..271: in--tx@100 tx--mux@200<0 mux--phy@202<1 phy--air@210<2 "
        "air--dec@250<3 dec--demux@260<4 demux--rx@270<5 rx--out@271<6*");
  CHECK(world.seen()[1].words ==
        "D incomplete 110..260: in--tx@110 tx--mux@201<0 mux--phy@202<1 phy--air@210<2 "
        "air--dec@250<3 dec--demux@260<4");
  world.journeys();
  CHECK(world.totals().expired_by_memory == 0);
}

TEST_CASE("a block that is dropped ends the journeys of all that went into it") {
  const auto journeys = rebuilt(kLink, 'D', R"(
    100 % in--tx 300 1 4 7
    110 % in--tx 200 1 4 8
    200 % tx--mux 300 1 4 7 0 2
    201 % tx--mux 200 1 4 8 0 2
    202 % mux--phy 510 1 0 2
    210 % phy--air 510 0 1 0 2
    250 % air--dec 510 0 1 0 2
    260 % dec--drop 510 1 0 2
  )");
  CHECK(journeys == Lines{"D dropped 100..260: in--tx@100 tx--mux@200<0 mux--phy@202<1 "
                          "phy--air@210<2 air--dec@250<3 dec--drop@260<4",
                          "D dropped 110..260: in--tx@110 tx--mux@201<0 mux--phy@202<1 "
                          "phy--air@210<2 air--dec@250<3 dec--drop@260<4"});
}

// Both directions are equal here, so testing the uplink is enough.
TEST_CASE("journeys of a block that a rule anchors at the other end keep to their packet, too") {
  World world(in_direction(kLink, 'U'));
  world.rules.uplink = Anchor::kInput;
  world.events(in_direction(kOneComesOut, 'U'));
  const auto journeys = world.journeys();
  REQUIRE(journeys.size() == 2);
  CHECK(journeys[0] ==
        "U complete 100..271: in--tx@100 tx--mux@200<0 mux--phy@202<1 phy--air@210<2 "
        "air--dec@250<3 dec--demux@260<4 demux--rx@270<5 rx--out@271<6*");
  CHECK(journeys[1] ==
        "U censored 110..260: in--tx@110 tx--mux@201<0 mux--phy@202<1 phy--air@210<2 "
        "air--dec@250<3 dec--demux@260<4");
}

TEST_CASE("a piece without an id belongs to all units that went into its block") {
  const std::string whole =
      "U complete 100..271: in--tx@100 in--tx@110 tx--mux@200<0 tx--mux@201<1 mux--phy@202<2,3 "
      "phy--air@210<4 air--dec@250<5 dec--demux@260<6 demux--rx@270<7 rx--out@271<8*";
  SECTION("the receiver calls its number something else, and offsets are alike") {
    auto points = std::string(kLink);
    for (const auto* const point : {"demux--rx len:rnti:lcid.", "rx--out len:rnti:lcid."})
      points.insert(points.find(point) + std::string_view(point).size(), "r");
    CHECK(rebuilt(points, 'U', kOneComesOut) == Lines{whole});
  }
  SECTION("none of them has its number") {
    auto events = std::string(kOneComesOut);
    for (const auto* const event : {"demux--rx 300 1 4 7", "rx--out 300 1 4 7"})
      events[events.find(event) + std::string_view(event).size() - 1] = '9';
    CHECK(rebuilt(kLink, 'U', events) == Lines{whole});
  }
}

// One segment went into the block twice; the other one is identified by its ids.
TEST_CASE("a block that belongs to one piece as a whole does so to its packet") {
  const auto journeys = rebuilt(kLink, 'U', R"(
    100 % in--tx 500 1 4 7
    110 % in--tx 200 1 4 8
    200 % tx--mux 300 1 4 7 0 2
    201 % tx--mux 300 1 4 7 0 2
    202 % tx--mux 200 1 4 7 300 2
    203 % tx--mux 200 1 4 8 0 2
    204 % mux--phy 1020 1 0 2
    210 % phy--air 1020 0 1 0 2
    250 % air--dec 1020 0 1 0 2
    260 % dec--demux 1020 1 0 2
    270 % demux--rx 200 1 4 7 300 2
    271 % demux--rx 300 1 4 7 0 2
    272 % rx--out 500 1 4 7
  )");
  CHECK(journeys ==
        Lines{"U complete 100..272: in--tx@100 in--tx@110 tx--mux@200<0 tx--mux@201<0=2 "
              "tx--mux@202<0 tx--mux@203<1 mux--phy@204<2,3,4,5 phy--air@210<6 air--dec@250<7 "
              "dec--demux@260<8 demux--rx@270<9 demux--rx@271<9 rx--out@272<10,11*"});
}

TEST_CASE("a piece whose entry into the block was lost belongs to none of its packets") {
  const auto letter = GENERATE('U', 'D');
  World world(in_direction(kLink, letter));
  world.marks.open_ns = 1;
  world.events(in_direction(R"(
    100000000 % in--tx 300 1 4 7
    100000010 % in--tx 200 1 4 8
    100000200 % tx--mux 300 1 4 7 0 2
  )",
                            letter));
  world.lose(1);
  world.events(in_direction(R"(
    100000202 % mux--phy 510 1 0 2
    100000210 % phy--air 510 0 1 0 2
    100000250 % air--dec 510 0 1 0 2
    100000260 % dec--demux 510 1 0 2
    100000270 % demux--rx 300 1 4 7 0 2
    100000271 % rx--out 300 1 4 7
    100000272 % demux--rx 200 1 4 8 0 2
    100000273 % rx--out 200 1 4 8
  )",
                            letter));
  const auto journeys = world.journeys();
  REQUIRE(journeys.size() == (letter == 'U' ? 3 : 2));
  CHECK(journeys[0] == in_direction("% complete 100000000..100000271: in--tx@100000000 "
                                    "tx--mux@100000200<0 mux--phy@100000202<1 "
                                    "phy--air@100000210<2 air--dec@100000250<3 "
                                    "dec--demux@100000260<4 demux--rx@100000270<5 "
                                    "rx--out@100000271<6*",
                                    letter));
  CHECK(journeys[1] ==
        (letter == 'U' ? "U censored 100000202..100000273: mux--phy@100000202 phy--air@100000210<0 "
                         "air--dec@100000250<1 dec--demux@100000260<2 demux--rx@100000272<3 "
                         "rx--out@100000273<4"
                       : "D censored 100000010..100000010: in--tx@100000010"));
}

TEST_CASE("a rule joins the two ends where the air has two names") {
  auto points = std::string(kLink);
  points.replace(points.find("phy--air"), 8, "phy--ant");
  auto events = std::string(kOneComesOut);
  events.replace(events.find("phy--air"), 8, "phy--ant");
  // Two packets that were sent, one that was received.
  CHECK(rebuilt(points, 'U', events).size() == 3);
  World world(in_direction(points, 'U'));
  auto& rule = world.rules.pairs.emplace_back();
  rule.parent = {model::Direction::kUplink, "phy--ant", {}};
  rule.child = {model::Direction::kUplink, "air--dec", {}};
  rule.gathers = rule.cuts = false;
  world.events(in_direction(events, 'U'));
  CHECK(world.journeys()[0] ==
        "U complete 100..271: in--tx@100 tx--mux@200<0 mux--phy@202<1 phy--ant@210<2 "
        "air--dec@250<3 dec--demux@260<4 demux--rx@270<5 rx--out@271<6*");
}

}  // namespace
}  // namespace sojourn::journeys
