// The number of segments of a packet, in spite of repeats in sending and receiving.
#include <catch2/catch_test_macros.hpp>

#include "tests/unit/journeys/world.h"

namespace sojourn::journeys {
namespace {

// A 5G NR uplink: a block that could not be decoded goes back to where its next round is waited
// for, unless that round just comes.
constexpr std::string_view kNr = R"(
    U demod--decode ::fm.sl.hqpid.hqround
    U decode--mac ::fm.sl.hqpid.hqround
    U mac--retx ::fm.sl.fmrtx.slrtx.hqpid
    U retx--demod ::fmrtx.slrtx.hqpid.hqround
    U mac--demux len::fm.sl.hqpid.hqround.mcs
    U demux--rlc len::fm.sl.lcid.hqpid.MRbuf
    U rlc--whole len::MRbuf.p.si.sn.so
    U whole--pdcp len::sn
    U pdcp--out len::sn
)";

std::uint32_t segments_of(const World& world) {
  REQUIRE(world.seen().size() == 1);
  const auto& journey = world.seen().front().journey;
  REQUIRE(journey.outcome == Outcome::kComplete);
  return journey.segments;
}

TEST_CASE("a piece that came by a later round only is one of those that made the whole") {
  World world(kNr);
  world.events(R"(
    100 U demod--decode 7 7 9 0
    110 U decode--mac 7 7 9 0
    120 U mac--demux 48 7 7 9 0 9
    130 U demux--rlc 39 7 7 4 9 1001
    140 U rlc--whole 36 1001 0 1 12 0
    200 U demod--decode 7 14 11 0
    210 U decode--mac 7 14 11 0
    300 U demod--decode 7 18 11 1
    310 U decode--mac 7 18 11 1
    320 U mac--demux 96 7 18 11 1 9
    330 U demux--rlc 72 7 18 4 11 1002
    340 U rlc--whole 69 1002 1 2 12 36
    350 U whole--pdcp 105 12
    360 U pdcp--out 105 12
  )");
  CHECK(world.journeys().size() == 1);
  CHECK(segments_of(world) == 2);
  CHECK(world.seen()[0].journey.harq_retransmissions == 1);
}

TEST_CASE("so are both where each came by a later round, asked for or not") {
  World world(kNr);
  world.events(R"(
    100 U demod--decode 7 7 9 0
    110 U decode--mac 7 7 9 0
    120 U mac--retx 7 7 7 7 9
    130 U retx--demod 7 7 9 1
    200 U demod--decode 7 14 11 0
    210 U decode--mac 7 14 11 0
    260 U demod--decode 7 16 9 1
    270 U decode--mac 7 16 9 1
    275 U mac--demux 48 7 16 9 1 9
    280 U demux--rlc 39 7 16 4 9 1001
    285 U rlc--whole 36 1001 0 1 12 0
    300 U demod--decode 7 18 11 1
    310 U decode--mac 7 18 11 1
    320 U mac--demux 96 7 18 11 1 9
    330 U demux--rlc 72 7 18 4 11 1002
    340 U rlc--whole 69 1002 1 2 12 36
    350 U whole--pdcp 105 12
    360 U pdcp--out 105 12
  )");
  CHECK(world.journeys().size() == 1);
  CHECK(segments_of(world) == 2);
}

TEST_CASE("two pieces of one block that came by its second round are two") {
  World world(R"(
    U ant--phy len::sl
    U phy--mac round::sl.hqpid
    U mac--rlc len:rnti:sl.hqpid.lcid.sn.so
    U rlc--out len:rnti:sn
  )");
  world.events(R"(
    100 U ant--phy 200 7
    110 U phy--mac 0 7 3
    200 U ant--phy 200 9
    210 U phy--mac 1 9 3
    220 U mac--rlc 60 1 9 3 4 5 40
    230 U mac--rlc 40 1 9 3 4 5 0
    240 U rlc--out 100 1 5
  )");
  world.journeys();
  REQUIRE(world.seen()[0].journey.outcome == Outcome::kComplete);
  CHECK(world.seen()[0].journey.retransmissions == 1);
  CHECK(world.seen()[0].journey.segments == 2);
}

TEST_CASE("a block that goes round a loop of points, which something feeds, is one piece") {
  World world("U ant--demod ::fm.sl.hqpid.hqround\n" + std::string(kNr));
  world.events(R"(
    90 U ant--demod 7 7 9 0
    100 U demod--decode 7 7 9 0
    110 U decode--mac 7 7 9 0
    120 U mac--retx 7 7 7 7 9
    130 U retx--demod 7 7 9 1
    200 U demod--decode 7 16 9 1
    210 U decode--mac 7 16 9 1
    220 U mac--demux 48 7 16 9 1 9
    230 U demux--rlc 39 7 16 4 9 1001
    240 U rlc--whole 36 1001 0 0 12 0
    250 U whole--pdcp 36 12
    260 U pdcp--out 36 12
  )");
  CHECK(world.journeys().size() == 1);
  CHECK(segments_of(world) == 1);
}

constexpr std::string_view kDown = R"(
    D in--rlc len:rnti:psn
    D rlc--seg len:rnti:psn.rsn.so
    D seg--mux len:rnti:rsn.so.slot
    D mux--harq len:rnti:harq.slot
    D harq--phy len.round:rnti:harq.slot
    D harq--drop len:rnti:harq.slot
    D phy--ant len:rnti:slot
)";

TEST_CASE(
    "a piece that left by its second round only is one of those that the packet was cut into") {
  World world(kDown);
  world.events(R"(
    100 D in--rlc 1000 1 5
    200 D rlc--seg 600 1 5 9 0
    201 D seg--mux 600 1 9 0 50
    202 D mux--harq 700 1 0 50
    203 D harq--phy 700 0 1 0 50
    300 D rlc--seg 400 1 5 9 600
    301 D seg--mux 400 1 9 600 51
    302 D mux--harq 500 1 1 51
    303 D harq--phy 500 0 1 1 51
    310 D phy--ant 500 1 51
    403 D harq--phy 700 1 1 0 58
    410 D phy--ant 700 1 58
  )");
  world.journeys();
  CHECK(segments_of(world) == 2);
  CHECK(world.seen()[0].journey.harq_retransmissions == 1);
}

TEST_CASE("bytes that are sent again are no further piece, however they are cut this time") {
  World world(kDown);
  world.events(R"(
    100 D in--rlc 1000 1 5
    200 D rlc--seg 600 1 5 9 0
    201 D seg--mux 600 1 9 0 50
    202 D mux--harq 700 1 0 50
    203 D harq--drop 700 1 0 50
    300 D rlc--seg 400 1 5 9 600
    301 D seg--mux 400 1 9 600 51
    302 D mux--harq 500 1 1 51
    303 D harq--phy 500 0 1 1 51
    310 D phy--ant 500 1 51
    400 D rlc--seg 200 1 5 9 0
    401 D seg--mux 200 1 9 0 60
    402 D mux--harq 300 1 2 60
    403 D harq--phy 300 0 1 2 60
    410 D phy--ant 300 1 60
    500 D rlc--seg 400 1 5 9 200
    501 D seg--mux 400 1 9 200 61
    502 D mux--harq 500 1 3 61
    503 D harq--phy 500 0 1 3 61
    510 D phy--ant 500 1 61
  )");
  world.journeys();
  CHECK(segments_of(world) == 2);
}

TEST_CASE("a piece that left by both of its rounds is one") {
  World world(kDown);
  world.events(R"(
    100 D in--rlc 1000 1 5
    200 D rlc--seg 600 1 5 9 0
    201 D seg--mux 600 1 9 0 50
    202 D mux--harq 700 1 0 50
    203 D harq--phy 700 0 1 0 50
    210 D phy--ant 700 1 50
    300 D rlc--seg 400 1 5 9 600
    301 D seg--mux 400 1 9 600 51
    302 D mux--harq 500 1 1 51
    303 D harq--phy 500 0 1 1 51
    310 D phy--ant 500 1 51
    403 D harq--phy 700 1 1 0 58
    410 D phy--ant 700 1 58
  )");
  world.journeys();
  CHECK(segments_of(world) == 2);
  CHECK(world.seen()[0].journey.harq_retransmissions == 1);
}

TEST_CASE("a later round repeats as many pieces as the first one had, and others are new") {
  constexpr std::string_view kPorts = R"(
    D in--harq len:rnti:harq.slot
    D harq--phy len.round:rnti:harq.slot
    D phy--ant len:rnti:slot.port
  )";
  const auto segments = [&](std::string_view first, std::string_view later) {
    World world(kPorts);
    world.events("100 D in--harq 700 1 0 50\n 200 D harq--phy 700 0 1 0 50\n" + std::string(first) +
                 "300 D harq--phy 700 1 1 0 58\n" + std::string(later));
    world.journeys();
    CHECK(world.seen()[0].journey.harq_retransmissions == 1);
    return segments_of(world);
  };
  CHECK(segments("210 D phy--ant 700 1 50 0\n", "310 D phy--ant 700 1 58 0\n") == 1);
  CHECK(segments("210 D phy--ant 700 1 50 0\n 211 D phy--ant 700 1 50 1\n",
                 "310 D phy--ant 700 1 58 0\n 311 D phy--ant 700 1 58 1\n") == 2);
  CHECK(segments("210 D phy--ant 700 1 50 0\n",
                 "310 D phy--ant 700 1 58 0\n 311 D phy--ant 700 1 58 1\n") == 2);
}

}  // namespace
}  // namespace sojourn::journeys
