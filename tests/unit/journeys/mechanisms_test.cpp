// Each thing that a radio stack does to its packets, alone.
#include <algorithm>

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/journeys/world.h"

namespace sojourn::journeys {
namespace {

using Lines = std::vector<std::string>;

// From the SDU in `rlc.tx` on, to keep the tests short.
constexpr std::string_view kDown = R"(
    D pdcp.tx--rlc.tx.am len:rnti:drb.psn
    D rlc.tx.am--rlc.seg.am len:rnti:drb.psn.rsn.so
    D rlc.tx.am--rlc.ack len:rnti:drb.psn.rsn
    D rlc.tx.am--drop len:rnti:drb.psn
    D rlc.seg.am--mac.mux len:rnti:drb.rsn.so.slot
    D rlc.ctrl.am--mac.mux len:rnti:drb.slot
    D mac.mux--harq len:rnti:harq.slot
    D harq--phy len.round:rnti:harq.slot
    D harq--drop len:rnti:harq.slot
    D phy--ant len:rnti:slot
)";

constexpr std::string_view kUp = R"(
    U ant--phy len.round:rnti:harq.slot
    U phy--demux len:rnti:harq.slot
    U phy--drop len:rnti:harq.slot
    U demux--rlc.rx len:rnti:drb.rsn.so.slot
    U demux--rlc.ctrl len:rnti:drb.slot
    U rlc.rx--pdcp.rx len:rnti:drb.rsn.psn
    U rlc.rx--drop len:rnti:drb.rsn.so
    U pdcp.rx--out len:rnti:drb.psn
)";

constexpr std::string_view kLine = R"(
    D in--a len:rnti:sn
    D a--b len:rnti:sn
    D a--drop len:rnti:sn
    D b--out len:rnti:sn
)";

TEST_CASE("a packet that nothing happens to is one straight journey") {
  World world(kLine);
  world.events(R"(
    100 D in--a 1000 1 7
    110 D a--b 1000 1 7
    130 D b--out 1000 1 7
  )");
  CHECK(world.journeys() == Lines{"D complete 100..130: in--a@100 a--b@110<0 b--out@130<1*"});
  CHECK(world.hops("a") == "a 10");
  CHECK(world.hops("b") == "b 20");
  CHECK(world.stays("b") == "b +110 -130");
}

TEST_CASE(
    "a block takes the units that its thread put into it, also if it began before the capture") {
  World world(kDown);
  world.marks.open_ns = 1;
  world.events(R"(
    100000 t1 D rlc.tx.am--rlc.seg.am 500 1 2 7 7 0
    100010 t1 D rlc.seg.am--mac.mux 500 1 2 7 0 30
    100020 t1 D rlc.tx.am--rlc.seg.am 400 1 2 8 8 0
    100030 t1 D rlc.seg.am--mac.mux 400 1 2 8 0 30
    100040 t1 D rlc.ctrl.am--mac.mux 3 1 2 30
    100050 t1 D mac.mux--harq 910 1 5 30
    100060 t1 D harq--phy 910 0 1 5 30
    150000 t2 D phy--ant 910 1 30
  )");
  CHECK(
      world.journeys() ==
      Lines{"D censored 100000..150000: rlc.tx.am--rlc.seg.am@100000 rlc.seg.am--mac.mux@100010<0 "
            "mac.mux--harq@100050<1 harq--phy@100060<2 phy--ant@150000<3",
            "D censored 100020..150000: rlc.tx.am--rlc.seg.am@100020 rlc.seg.am--mac.mux@100030<0 "
            "mac.mux--harq@100050<1 harq--phy@100060<2 phy--ant@150000<3"});
}

TEST_CASE("packets of two UEs with the same numbers do not mix") {
  World world(kLine);
  world.events(R"(
    100 D in--a 1000 1 7
    101 D in--a 1000 2 7
    110 D a--b 1000 2 7
    111 D a--b 1000 1 7
    120 D b--out 1000 1 7
    121 D b--out 1000 2 7
  )");
  CHECK(world.journeys() == Lines{"D complete 100..120: in--a@100 a--b@111<0 b--out@120<1*",
                                  "D complete 101..121: in--a@101 a--b@110<0 b--out@121<1*"});
}

TEST_CASE("a number that wraps begins a new journey") {
  World world(kLine);
  world.events(R"(
    100 D in--a 1000 1 7
    110 D a--b 1000 1 7
    120 D b--out 1000 1 7
    200 D in--a 1000 1 7
    210 D a--b 1000 1 7
    220 D b--out 1000 1 7
  )");
  CHECK(world.journeys() == Lines{"D complete 100..120: in--a@100 a--b@110<0 b--out@120<1*",
                                  "D complete 200..220: in--a@200 a--b@210<0 b--out@220<1*"});
}

TEST_CASE("a number in use twice is matched to the nearest and flagged") {
  World world(kLine);
  world.events(R"(
    100 t1 D in--a 1000 1 7
    105 t1 D in--a 1000 1 7
    110 t2 D a--b 1000 1 7
    120 t2 D b--out 1000 1 7
  )");
  CHECK(world.journeys() == Lines{"D complete 105..120: in--a@105 a--b@110<0 b--out@120<1*",
                                  "D censored 100..100: in--a@100"});
  CHECK(world.seen()[0].journey.ambiguous);
  CHECK(world.seen()[0].journey.alternatives == 1);
  CHECK(world.at("D a--b").ambiguous == 1);
}

TEST_CASE("a step from the event just before on the same thread is not ambiguous") {
  World world(kLine);
  world.events(R"(
    100 t1 D in--a 1000 1 7
    105 t2 D in--a 1000 1 7
    110 t2 D a--b 1000 1 7
    120 t2 D b--out 1000 1 7
  )");
  CHECK(world.journeys()[0] == "D complete 105..120: in--a@105 a--b@110<0 b--out@120<1*");
  CHECK_FALSE(world.seen()[0].journey.ambiguous);
}

TEST_CASE("if threads are not known, the length counts more than the event just before") {
  World world(kLine);
  world.events(R"(
    100 D in--a 1000 1 7
    105 D in--a 500 1 7
    110 D a--b 1000 1 7
    120 D b--out 1000 1 7
    130 D a--b 500 1 7
    140 D b--out 500 1 7
    200 D in--a 800 1 7
    205 D in--a 800 1 7
    210 D a--b 800 1 7
    220 D b--out 800 1 7
  )");
  const auto journeys = world.journeys();
  REQUIRE(journeys.size() == 4);
  CHECK(journeys[0] == "D complete 100..120: in--a@100 a--b@110<0 b--out@120<1*");
  CHECK(world.seen()[0].journey.ambiguous);
  CHECK(journeys[1] == "D complete 105..140: in--a@105 a--b@130<0 b--out@140<1*");
  CHECK(journeys[2] == "D complete 205..220: in--a@205 a--b@210<0 b--out@220<1*");
  CHECK_FALSE(world.seen()[2].journey.ambiguous);
}

TEST_CASE("events of one instant are taken in the order of the pipeline") {
  World world(kLine);
  world.events(R"(
    100 s1 D b--out 1000 1 7
    100 s2 D a--b 1000 1 7
    100 s3 D in--a 1000 1 7
  )");
  CHECK(world.journeys() == Lines{"D complete 100..100: in--a@100 a--b@100<0 b--out@100<1*"});
  CHECK(world.totals().lost == 0);
}

TEST_CASE("a drop ends the journey where it happened") {
  World world(kLine);
  world.events(R"(
    100 D in--a 1000 1 7
    110 D a--drop 1000 1 7
  )");
  CHECK(world.journeys() == Lines{"D dropped 100..110: in--a@100 a--drop@110<0"});
  CHECK(world.stays("a") == "a +100 -110");
}

TEST_CASE("segments are one journey, complete when the last byte is out") {
  World world(kDown);
  world.events(R"(
    100 D pdcp.tx--rlc.tx.am 1000 1 2 5
    200 D rlc.tx.am--rlc.seg.am 600 1 2 5 9 0
    201 D rlc.seg.am--mac.mux 600 1 2 9 0 50
    202 D mac.mux--harq 700 1 0 50
    203 D harq--phy 700 0 1 0 50
    210 D phy--ant 700 1 50
    300 D rlc.tx.am--rlc.seg.am 400 1 2 5 9 600
    301 D rlc.seg.am--mac.mux 400 1 2 9 600 51
    302 D mac.mux--harq 500 1 1 51
    303 D harq--phy 500 0 1 1 51
    310 D phy--ant 500 1 51
    400 D rlc.tx.am--rlc.ack 1000 1 2 5 9
  )");
  CHECK(world.journeys() ==
        Lines{"D complete 100..310: pdcp.tx--rlc.tx.am@100 rlc.tx.am--rlc.seg.am@200<0 "
              "rlc.seg.am--mac.mux@201<1 mac.mux--harq@202<2 harq--phy@203<3 phy--ant@210<4 "
              "rlc.tx.am--rlc.seg.am@300<0 rlc.seg.am--mac.mux@301<6 mac.mux--harq@302<7 "
              "harq--phy@303<8 phy--ant@310<9* rlc.tx.am--rlc.ack@400<0"});
  const auto& journey = world.seen()[0].journey;
  CHECK(journey.segments == 2);
  CHECK(journey.retransmissions == 0);
  CHECK(journey.ack_ns == 400);
  CHECK(world.hops("rlc.tx.am") == "rlc.tx.am 100 200");
  CHECK(world.stays("rlc.tx.am") == "rlc.tx.am +100 -300");
}

TEST_CASE("a transport block belongs to every packet in it") {
  World world(kDown);
  world.events(R"(
    100 D pdcp.tx--rlc.tx.am 100 1 2 5
    110 D pdcp.tx--rlc.tx.am 100 1 2 6
    200 D rlc.tx.am--rlc.seg.am 100 1 2 5 9 0
    201 D rlc.seg.am--mac.mux 100 1 2 9 0 50
    202 D rlc.tx.am--rlc.seg.am 100 1 2 6 10 0
    203 D rlc.seg.am--mac.mux 100 1 2 10 0 50
    204 D mac.mux--harq 300 1 0 50
    205 D harq--phy 300 0 1 0 50
    210 D phy--ant 300 1 50
  )");
  CHECK(world.journeys() ==
        Lines{"D complete 100..210: pdcp.tx--rlc.tx.am@100 rlc.tx.am--rlc.seg.am@200<0 "
              "rlc.seg.am--mac.mux@201<1 mac.mux--harq@204<2 harq--phy@205<3 phy--ant@210<4*",
              "D complete 110..210: pdcp.tx--rlc.tx.am@110 rlc.tx.am--rlc.seg.am@202<0 "
              "rlc.seg.am--mac.mux@203<1 mac.mux--harq@204<2 harq--phy@205<3 phy--ant@210<4*"});
  CHECK(world.hops("mac.mux") == "mac.mux 3 1");
}

TEST_CASE("a HARQ round is a repeat, and does not make the packet late") {
  World world(kDown);
  world.events(R"(
    100 D pdcp.tx--rlc.tx.am 100 1 2 5
    200 D rlc.tx.am--rlc.seg.am 100 1 2 5 9 0
    201 D rlc.seg.am--mac.mux 100 1 2 9 0 50
    202 D mac.mux--harq 300 1 0 50
    205 D harq--phy 300 0 1 0 50
    210 D phy--ant 300 1 50
    305 D harq--phy 300 1 1 0 58
    310 D phy--ant 300 1 58
  )");
  CHECK(world.journeys() ==
        Lines{"D complete 100..210: pdcp.tx--rlc.tx.am@100 rlc.tx.am--rlc.seg.am@200<0 "
              "rlc.seg.am--mac.mux@201<1 mac.mux--harq@202<2 harq--phy@205<3 phy--ant@210<4* "
              "harq--phy@305<3=4 phy--ant@310<6"});
  CHECK(world.seen()[0].journey.retransmissions == 1);
  CHECK(world.seen()[0].journey.harq_retransmissions == 1);
  CHECK(world.seen()[0].journey.last_out_ns == 310);
  CHECK(world.seen()[0].journey.segments == 1);
  CHECK(world.hops("harq") == "harq 3");
  CHECK(world.stays("phy") == "phy +205 -210 +305 -310");
}

TEST_CASE("a block whose rounds are exhausted is dropped, whichever slot the drop names") {
  for (const auto* slot : {"50", "58"}) {
    World world(kDown);
    world.events(R"(
      100 D pdcp.tx--rlc.tx.am 100 1 2 5
      200 D rlc.tx.am--rlc.seg.am 100 1 2 5 9 0
      201 D rlc.seg.am--mac.mux 100 1 2 9 0 50
      202 D mac.mux--harq 300 1 0 50
      205 D harq--phy 300 0 1 0 50
      305 D harq--phy 300 1 1 0 58
    )" + std::string("400 D harq--drop 300 1 0 ") +
                 slot);
    const auto journeys = world.journeys();
    REQUIRE(journeys.size() == 1);
    CHECK(journeys[0].ends_with("harq--drop@400<3"));
    CHECK(world.at("D harq--drop").orphans == 0);
  }
}

TEST_CASE("bytes that RLC sends again are a repeat, however they are cut") {
  World world(kDown);
  world.events(R"(
    100 D pdcp.tx--rlc.tx.am 1000 1 2 5
    200 D rlc.tx.am--rlc.seg.am 600 1 2 5 9 0
    300 D rlc.tx.am--rlc.seg.am 400 1 2 5 9 600
    400 D rlc.tx.am--rlc.seg.am 300 1 2 5 9 600
    500 D rlc.tx.am--rlc.seg.am 100 1 2 5 9 900
    600 D rlc.tx.am--rlc.seg.am 100 1 2 5 9 900
    700 D rlc.tx.am--rlc.ack 1000 1 2 5 9
  )");
  CHECK(world.journeys() ==
        Lines{"D censored 100..700: pdcp.tx--rlc.tx.am@100 rlc.tx.am--rlc.seg.am@200<0 "
              "rlc.tx.am--rlc.seg.am@300<0 rlc.tx.am--rlc.seg.am@400<0=2 "
              "rlc.tx.am--rlc.seg.am@500<0=2 rlc.tx.am--rlc.seg.am@600<0=4 "
              "rlc.tx.am--rlc.ack@700<0"});
  CHECK(world.seen()[0].journey.retransmissions == 3);
  CHECK(world.seen()[0].journey.segments == 2);
  CHECK(world.hops("rlc.tx.am") == "rlc.tx.am 100 200");
  CHECK(world.at("D rlc.tx.am--rlc.seg.am").repeats == 3);
}

TEST_CASE("a packet whose block was lost is complete with its retransmission") {
  World world(kDown);
  world.events(R"(
    100 D pdcp.tx--rlc.tx.am 100 1 2 5
    200 D rlc.tx.am--rlc.seg.am 100 1 2 5 9 0
    201 D rlc.seg.am--mac.mux 100 1 2 9 0 50
    202 D mac.mux--harq 300 1 0 50
    203 D harq--drop 300 1 0 50
    300 D rlc.tx.am--rlc.seg.am 100 1 2 5 9 0
    301 D rlc.seg.am--mac.mux 100 1 2 9 0 60
    302 D mac.mux--harq 300 1 1 60
    303 D harq--phy 300 0 1 1 60
    310 D phy--ant 300 1 60
  )");
  CHECK(world.journeys() ==
        Lines{"D complete 100..310: pdcp.tx--rlc.tx.am@100 rlc.tx.am--rlc.seg.am@200<0 "
              "rlc.seg.am--mac.mux@201<1 mac.mux--harq@202<2 harq--drop@203<3 "
              "rlc.tx.am--rlc.seg.am@300<0=1 rlc.seg.am--mac.mux@301<5 mac.mux--harq@302<6 "
              "harq--phy@303<7 phy--ant@310<8*"});
  CHECK(world.seen()[0].journey.drops == 1);
}

TEST_CASE("a block that carries only control is control") {
  World world(kDown);
  world.events(R"(
    200 D rlc.ctrl.am--mac.mux 6 1 2 50
    202 D mac.mux--harq 30 1 0 50
    205 D harq--phy 30 0 1 0 50
    210 D phy--ant 30 1 50
    305 D harq--phy 30 1 1 0 58
    310 D phy--ant 30 1 58
  )");
  CHECK(world.journeys().empty());
  CHECK(world.at("D phy--ant").control == 2);
  CHECK(world.at("D mac.mux--harq").orphans == 0);
}

TEST_CASE("control in a block of data does not change the packet's journey") {
  World world(kDown);
  world.events(R"(
    100 D pdcp.tx--rlc.tx.am 100 1 2 5
    199 D rlc.ctrl.am--mac.mux 6 1 2 50
    200 D rlc.tx.am--rlc.seg.am 100 1 2 5 9 0
    201 D rlc.seg.am--mac.mux 100 1 2 9 0 50
    202 D mac.mux--harq 300 1 0 50
    205 D harq--phy 300 0 1 0 50
    210 D phy--ant 300 1 50
  )");
  CHECK(world.journeys() ==
        Lines{"D complete 100..210: pdcp.tx--rlc.tx.am@100 rlc.tx.am--rlc.seg.am@200<0 "
              "rlc.seg.am--mac.mux@201<1 mac.mux--harq@202<2 harq--phy@205<3 phy--ant@210<4*"});
}

TEST_CASE("lengths that do not fit their offsets are not used") {
  World world(kDown);
  world.events(R"(
    100 D pdcp.tx--rlc.tx.am 100 1 2 5
    200 D rlc.tx.am--rlc.seg.am 80 1 2 5 9 0
    300 D rlc.tx.am--rlc.seg.am 80 1 2 5 9 80
  )");
  const auto journeys = world.journeys();
  CHECK(journeys == Lines{"D censored 100..300: pdcp.tx--rlc.tx.am@100 "
                          "rlc.tx.am--rlc.seg.am@200<0 rlc.tx.am--rlc.seg.am@300<0"});
  const auto& differ = world.totals().lengths_differ;
  CHECK(std::ranges::count(differ, true) == 1);
}

TEST_CASE("an uplink packet is everything it was made from, from its first reception on") {
  World world(kUp);
  world.events(R"(
    100 U ant--phy 700 0 1 0 10
    180 U ant--phy 700 1 1 0 18
    185 U phy--demux 700 1 0 18
    186 U demux--rlc.rx 600 1 2 9 0 18
    190 U ant--phy 700 0 1 1 19
    195 U phy--demux 700 1 1 19
    196 U demux--rlc.rx 400 1 2 9 600 19
    197 U rlc.rx--pdcp.rx 1000 1 2 9 5
    210 U pdcp.rx--out 1000 1 2 5
  )");
  CHECK(world.journeys() ==
        Lines{"U complete 100..210: ant--phy@100 ant--phy@180=0 phy--demux@185<1 "
              "demux--rlc.rx@186<2 ant--phy@190 phy--demux@195<4 demux--rlc.rx@196<5 "
              "rlc.rx--pdcp.rx@197<3,6 pdcp.rx--out@210<7*"});
  CHECK(world.seen()[0].journey.segments == 2);
  CHECK(world.seen()[0].journey.harq_retransmissions == 1);
  CHECK(world.hops("phy") == "phy 85 5");
  CHECK(world.stays("phy") == "phy +100 -185 +190 -195");
}

TEST_CASE("two packets from one block are two journeys that share it") {
  World world(kUp);
  world.events(R"(
    100 U ant--phy 700 0 1 0 10
    105 U phy--demux 700 1 0 10
    106 U demux--rlc.rx 100 1 2 9 0 10
    107 U rlc.rx--pdcp.rx 100 1 2 9 5
    108 U demux--rlc.rx 100 1 2 10 0 10
    109 U rlc.rx--pdcp.rx 100 1 2 10 6
    110 U demux--rlc.ctrl 6 1 2 10
    120 U pdcp.rx--out 100 1 2 5
    121 U pdcp.rx--out 100 1 2 6
  )");
  CHECK(world.journeys() ==
        Lines{"U complete 100..120: ant--phy@100 phy--demux@105<0 demux--rlc.rx@106<1 "
              "rlc.rx--pdcp.rx@107<2 pdcp.rx--out@120<3*",
              "U complete 100..121: ant--phy@100 phy--demux@105<0 demux--rlc.rx@108<1 "
              "rlc.rx--pdcp.rx@109<2 pdcp.rx--out@121<3*"});
  CHECK(world.at("U demux--rlc.ctrl").control == 1);
}

TEST_CASE("a duplicate that is thrown away leaves the original waiting") {
  World world(kUp);
  world.events(R"(
    100 t1 U ant--phy 700 0 1 0 10
    105 t1 U phy--demux 700 1 0 10
    106 t2 U demux--rlc.rx 600 1 2 9 0 10
    200 t1 U ant--phy 700 0 1 1 20
    205 t1 U phy--demux 700 1 1 20
    206 t2 U demux--rlc.rx 600 1 2 9 0 20
    207 t2 U rlc.rx--drop 600 1 2 9 0
    300 t1 U ant--phy 700 0 1 2 30
    305 t1 U phy--demux 700 1 2 30
    306 t2 U demux--rlc.rx 400 1 2 9 600 30
    307 t2 U rlc.rx--pdcp.rx 1000 1 2 9 5
    310 t3 U pdcp.rx--out 1000 1 2 5
  )");
  CHECK(world.journeys() ==
        Lines{"U dropped 200..207: ant--phy@200 phy--demux@205<0 demux--rlc.rx@206<1 "
              "rlc.rx--drop@207<2",
              "U complete 100..310: ant--phy@100 phy--demux@105<0 demux--rlc.rx@106<1 "
              "ant--phy@300 phy--demux@305<3 demux--rlc.rx@306<4 rlc.rx--pdcp.rx@307<2,5 "
              "pdcp.rx--out@310<6*"});
  CHECK_FALSE(world.seen()[0].journey.ambiguous);
}

TEST_CASE("a piece and its longer retransmission are both parts of the packet") {
  World world(kUp);
  world.events(R"(
    100 t1 U ant--phy 700 0 1 0 10
    105 t1 U phy--demux 700 1 0 10
    106 t2 U demux--rlc.rx 300 1 2 9 0 10
    200 t1 U ant--phy 700 0 1 1 20
    205 t1 U phy--demux 700 1 1 20
    206 t2 U demux--rlc.rx 500 1 2 9 0 20
    207 t2 U rlc.rx--pdcp.rx 500 1 2 9 5
    208 t2 U demux--rlc.rx 100 1 2 10 0 20
    210 t3 U pdcp.rx--out 500 1 2 5
  )");
  CHECK(world.journeys()[0] ==
        "U complete 100..210: ant--phy@100 phy--demux@105<0 demux--rlc.rx@106<1 ant--phy@200 "
        "phy--demux@205<3 demux--rlc.rx@206<4 rlc.rx--pdcp.rx@207<2,5 pdcp.rx--out@210<6*");
}

TEST_CASE("a block that is never decoded is dropped with all its rounds") {
  World world(kUp);
  world.events(R"(
    100 U ant--phy 700 0 1 0 10
    180 U ant--phy 700 1 1 0 18
    190 U phy--drop 700 1 0 18
  )");
  CHECK(world.journeys() ==
        Lines{"U dropped 100..190: ant--phy@100 ant--phy@180=0 phy--drop@190<1"});
}

TEST_CASE("a packet sent over two legs is one journey, the second leg a repeat") {
  World world(R"(
    D in--pdcp len:rnti:sn
    D pdcp--leg.a len:rnti:sn
    D pdcp--leg.b len:rnti:sn
    D leg.a--out len:rnti:sn
    D leg.b--out len:rnti:sn
  )");
  world.events(R"(
    100 D in--pdcp 1000 1 7
    110 D pdcp--leg.a 1000 1 7
    111 D pdcp--leg.b 1000 1 7
    120 D leg.a--out 1000 1 7
    130 D leg.b--out 1000 1 7
  )");
  CHECK(world.journeys() ==
        Lines{"D complete 100..120: in--pdcp@100 pdcp--leg.a@110<0 pdcp--leg.b@111<0=1 "
              "leg.a--out@120<1* leg.b--out@130<2"});
}

TEST_CASE("a dest feeds a source that continues it after a dot, and no other") {
  World world(R"(
    D in--rlc.tx len:rnti:sn
    D rlc.tx.am--out len:rnti:sn
    D rlc.txt--other len:rnti:sn
  )");
  world.events(R"(
    100 D in--rlc.tx 10 1 7
    110 D rlc.tx.am--out 10 1 7
    120 D rlc.txt--other 10 1 7
  )");
  const auto journeys = world.journeys();
  CHECK(journeys[0] == "D complete 100..110: in--rlc.tx@100 rlc.tx.am--out@110<0*");
  CHECK(journeys[1] == "D complete 120..120: rlc.txt--other@120*");
}

TEST_CASE("without bytes a fork is complete when all its branches are out") {
  World world(R"(
    D in--cut :rnti:sn
    D cut--part :rnti:sn.piece
    D part--out :rnti:sn.piece
  )");
  world.events(R"(
    100 D in--cut 1 7
    110 D cut--part 1 7 0
    120 D part--out 1 7 0
    130 D cut--part 1 7 1
    140 D part--out 1 7 1
  )");
  CHECK(world.journeys() == Lines{"D complete 100..140: in--cut@100 cut--part@110<0 "
                                  "part--out@120<1 cut--part@130<0 part--out@140<3*"});
  CHECK(world.seen()[0].journey.segments == 2);
}

// LTE's frame number is the same for ten subframes, and no id that both points have tells the
// subframes apart.
TEST_CASE("a status that follows in the same frame is no part of a unit that went out whole") {
  World world(R"(
    D in--rlc len:rnti:sn
    D rlc--mac.mux len:rnti:sn.fm
    D mac.mux--mac.txreq len:rnti:fm.harq.subfm
    D mac.txreq--out len:rnti:fm.harq.subfm
  )");
  world.events(R"(
    100 D in--rlc 56 1 7
    110 D rlc--mac.mux 56 1 7 318
    120 D mac.mux--mac.txreq 57 1 318 4 0
    130 D mac.txreq--out 57 1 318 4 0
    1210 D mac.mux--mac.txreq 7 1 318 5 1
    1220 D mac.txreq--out 7 1 318 5 1
  )");
  CHECK(world.journeys().front() ==
        "D complete 100..130: in--rlc@100 rlc--mac.mux@110<0 mac.mux--mac.txreq@120<1 "
        "mac.txreq--out@130<2*");
}

TEST_CASE("units of processes that have nothing to do with each other never meet") {
  World world(kLine);
  world.marks.groups = {1, 2};
  world.events(R"(
    100 t1 s0 D in--a 10 1 7
    110 t2 s1 D in--a 10 1 7
    120 t2 s1 D a--b 10 1 7
    130 t1 s0 D a--b 10 1 7
    140 t1 s0 D b--out 10 1 7
    150 t2 s1 D b--out 10 1 7
  )");
  const Lines lines = world.journeys();
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].starts_with("D complete 100..140"));
  CHECK(lines[1].starts_with("D complete 110..150"));
}

}  // namespace
}  // namespace sojourn::journeys
