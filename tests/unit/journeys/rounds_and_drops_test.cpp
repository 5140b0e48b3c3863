// Receptions of a HARQ process, and drops: which unit an event belongs to if its own ids do not say
// it.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/unit/journeys/world.h"

namespace sojourn::journeys {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kUp = R"(
    U ant--phy len.round:rnti:harq.slot
    U phy--demux len:rnti:harq.slot
    U phy--drop len:rnti:harq.slot
    U demux--rlc.rx len:rnti:drb.rsn.so.slot
    U rlc.rx--pdcp.rx len:rnti:drb.rsn.psn
    U pdcp.rx--out len:rnti:drb.psn
)";

TEST_CASE(
    "a reception that is given up is dropped with all its rounds, whichever slot the drop names") {
  for (const auto* slot : {"10", "18", "26"}) {
    World world(kUp);
    world.events(R"(
      100 U ant--phy 700 0 1 0 10
      150 U ant--phy 700 0 1 1 14
      200 U ant--phy 700 1 1 0 18
      300 U phy--drop 700 1 0 )" +
                 std::string(slot) + R"(
      310 U phy--demux 700 1 1 14
      311 U demux--rlc.rx 300 1 2 9 0 14
      312 U rlc.rx--pdcp.rx 300 1 2 9 5
      313 U pdcp.rx--out 300 1 2 5
    )");
    CHECK(world.journeys() ==
          Lines{"U dropped 100..300: ant--phy@100 ant--phy@200=0 phy--drop@300<1",
                "U complete 150..313: ant--phy@150 phy--demux@310<0 demux--rlc.rx@311<1 "
                "rlc.rx--pdcp.rx@312<2 pdcp.rx--out@313<3*"});
    CHECK_FALSE(world.seen()[0].journey.ambiguous);
  }
}

TEST_CASE(
    "a block whose RNTI changes between its rounds is one, whichever of its names comes first") {
  for (const auto* names : {"1 2", "2 1"}) {
    World world(R"(
      U ant--phy len.round:rnti.rnti:harq.slot
      U phy--drop len:rnti:harq.slot
      U phy--out len:rnti:harq.slot
    )");
    world.events("100 U ant--phy 700 0 1 1 0 10\n200 U ant--phy 700 1 " + std::string(names) +
                 R"( 0 18
      300 U ant--phy 700 2 2 2 0 26
      310 U phy--out 700 2 0 26
    )");
    CHECK(world.journeys() ==
          Lines{"U complete 100..310: ant--phy@100 ant--phy@200=0 ant--phy@300=1 phy--out@310<2*"});
  }
}

TEST_CASE("a drop that names an earlier block of its process does not take the next one") {
  World world(kUp);
  world.events(R"(
    100 U ant--phy 700 0 1 0 10
    110 U phy--demux 700 1 0 10
    111 U demux--rlc.rx 300 1 2 9 0 10
    200 U ant--phy 700 0 1 0 18
    210 U phy--drop 700 1 0 10
    220 U phy--demux 700 1 0 18
    221 U demux--rlc.rx 200 1 2 9 300 18
    230 U rlc.rx--pdcp.rx 500 1 2 9 5
    231 U pdcp.rx--out 500 1 2 5
  )");
  const auto journeys = world.journeys();
  CHECK(journeys.back() ==
        "U complete 100..231: ant--phy@100 phy--demux@110<0 demux--rlc.rx@111<1 ant--phy@200 "
        "phy--demux@220<3 demux--rlc.rx@221<4 rlc.rx--pdcp.rx@230<2,5 pdcp.rx--out@231<6*");
}

TEST_CASE("a drop that only its process ties to a block is doubtful where events were lost") {
  World world(kUp);
  world.events("100 U ant--phy 700 0 1 0 10\n");
  world.lose(1);
  world.events("300 U phy--drop 700 1 0 26\n");
  CHECK(world.journeys() == Lines{"U dropped 100..300: ant--phy@100 phy--drop@300<0"});
  CHECK(world.seen()[0].doubts == Lines{"1 process"});
}

TEST_CASE("a copy that was thrown away has no child, though the other one was not seen") {
  World world(R"(
    U ant--rlc len:rnti:lcid.psn
    U rlc--pdcp len:rnti:lcid.psn
    U pdcp--drop len:rnti:lcid.psn
    U pdcp--out len:rnti:psn.gsn
  )");
  world.events("100 U ant--rlc 500 1 4 7\n");
  world.lose(1);
  world.events(R"(
    110 U ant--rlc 500 1 5 7
    115 U rlc--pdcp 500 1 5 7
    120 U pdcp--drop 500 1 5 7
    130 U pdcp--out 500 1 7 0
  )");
  CHECK(world.journeys() ==
        Lines{"U dropped 110..120: ant--rlc@110 rlc--pdcp@115<0 pdcp--drop@120<1",
              "U censored 130..130: pdcp--out@130", "U censored 100..100: ant--rlc@100"});
}

TEST_CASE("a round that goes through several points before it fails is one with the next round") {
  World world(R"(
    U ant--demod ::fm.hqpid.hqround
    U demod--dec ::fm.hqpid.hqround
    U dec--demux len::fm.hqpid.hqround
    U demux--rlc len::fm.hqpid.lcid.sn
    U rlc--out len::sn
  )");
  world.events(R"(
    100 U ant--demod 7 3 0
    110 U demod--dec 7 3 0
    200 U ant--demod 8 3 1
    210 U demod--dec 8 3 1
    220 U dec--demux 200 8 3 1
    230 U demux--rlc 100 8 3 4 5
    240 U rlc--out 100 5
    300 U ant--demod 9 3 0
    310 U demod--dec 9 3 0
    320 U dec--demux 200 9 3 0
    330 U demux--rlc 100 9 3 4 6
    340 U rlc--out 100 6
  )");
  CHECK(world.journeys() ==
        Lines{"U complete 100..240: ant--demod@100 demod--dec@110<0 ant--demod@200=0 "
              "demod--dec@210<2=1 dec--demux@220<3 demux--rlc@230<4 rlc--out@240<5*",
              "U complete 300..340: ant--demod@300 demod--dec@310<0 dec--demux@320<1 "
              "demux--rlc@330<2 rlc--out@340<3*"});
  CHECK(world.seen()[0].journey.retransmissions == 1);
  CHECK(world.seen()[0].journey.harq_retransmissions == 1);
  CHECK(world.stays("dec") == "dec +110 ~210 +210 -220 +310 -320");
}

TEST_CASE("a round that was sent and not received does not part those before and after it") {
  World world(R"(
    U mac--air len::slot.hqpid.hqround
    U air--dec ::slot.hqpid.hqround
    U dec--out len::slot.hqpid.hqround
  )");
  world.events(R"(
    100 U mac--air 200 7 3 0
    110 U air--dec 7 3 0
    200 U mac--air 200 8 3 1
    300 U mac--air 200 9 3 2
    310 U air--dec 9 3 2
    320 U dec--out 200 9 3 2
  )");
  const auto journeys = world.journeys();
  CHECK(std::ranges::find(journeys,
                          "U complete 100..320: mac--air@100 air--dec@110<0 mac--air@200=0 "
                          "mac--air@300=2 air--dec@310<3=1 dec--out@320<4*") != journeys.end());
  for (const auto& seen : world.seen())
    if (seen.journey.outcome == Outcome::kComplete) CHECK(seen.journey.retransmissions == 2);
}

TEST_CASE("if every other first round is not received, the others are still repeats") {
  World world(R"(
    U phy--dec ::slot.hqpid.hqround
    U dec--rlc len::slot.hqpid.lcid.sn
    U rlc--out len::sn
  )");
  std::string events;
  constexpr int kBlocks = 40;
  for (int i = 0; i < kBlocks; ++i) {
    if (i % 2 == 0) events += fmt::format("{0}10 U phy--dec {0}1 3 0\n", i + 1);
    events += fmt::format(
        "{0}20 U phy--dec {0}2 3 1\n{0}30 U dec--rlc 100 {0}2 3 4 {0}\n{0}40 U rlc--out 100 {0}\n",
        i + 1);
  }
  world.events(events);
  CHECK(world.journeys().size() == kBlocks);
  int repeated = 0;
  for (const auto& seen : world.seen()) repeated += static_cast<int>(seen.journey.retransmissions);
  CHECK(repeated == kBlocks / 2);
}

TEST_CASE("rounds are known by their redundancy versions, 0, 2, 3, 1, where nothing else tells") {
  World world(R"(
    U ant--dec ::fm.hqpid.rv.ndi
    U dec--demux len::fm.hqpid
    U demux--out len::fm.lcid.sn
  )");
  world.events(R"(
    100 U ant--dec 7 3 0 1
    200 U ant--dec 8 3 2 1
    300 U ant--dec 9 3 3 1
    400 U ant--dec 10 3 1 1
    420 U dec--demux 200 10 3
    430 U demux--out 100 10 4 5
    500 U ant--dec 11 3 0 0
    520 U dec--demux 200 11 3
    530 U demux--out 100 11 4 6
  )");
  CHECK(world.journeys() ==
        Lines{"U complete 100..430: ant--dec@100 ant--dec@200=0 ant--dec@300=1 ant--dec@400=2 "
              "dec--demux@420<3 demux--out@430<4*",
              "U complete 500..530: ant--dec@500 dec--demux@520<0 demux--out@530<1*"});
  CHECK(world.seen()[0].journey.harq_retransmissions == 3);
}

// All rounds may have the redundancy version 0.
TEST_CASE("rounds are known by not being of new data, where their numbers are not told") {
  World world("U ant--dec rv.new_data:rnti:slot.harq U dec--out len:rnti:slot.harq");
  world.events(R"(
    100 U ant--dec 0 1 1 7 3
    200 U ant--dec 0 0 1 8 3
    300 U ant--dec 0 0 1 9 3
    310 U dec--out 200 1 9 3
    400 U ant--dec 0 1 1 10 3
    410 U dec--out 200 1 10 3
    500 U ant--dec 0 1 1 11 3
    600 U ant--dec 0 1 1 12 3
    610 U dec--out 200 1 12 3
  )");
  // The block of 500 was given up.
  CHECK(world.journeys() ==
        Lines{"U complete 100..310: ant--dec@100 ant--dec@200=0 ant--dec@300=1 dec--out@310<2*",
              "U complete 400..410: ant--dec@400 dec--out@410<0*",
              "U complete 600..610: ant--dec@600 dec--out@610<0*",
              "U censored 500..500: ant--dec@500"});
  CHECK(world.seen()[0].journey.harq_retransmissions == 2);
}

TEST_CASE("a block of new data is sent again by one that is not, however often") {
  World world("D in--mac len:rnti:slot.harq D mac--out new_data:rnti:slot.harq");
  world.events(R"(
    100 D in--mac 700 1 10 3
    200 D mac--out 1 1 10 3
    300 D mac--out 0 1 18 3
    400 D mac--out 0 1 26 3
  )");
  CHECK(world.journeys() ==
        Lines{"D complete 100..200: in--mac@100 mac--out@200<0* mac--out@300<0=1 "
              "mac--out@400<0=2"});
}

TEST_CASE("where a point tells of the round as well, that counts") {
  World world("U ant--dec rv:rnti:fm.hqpid.hqround U dec--out len:rnti:fm.hqpid");
  world.events(R"(
    100 U ant--dec 0 1 7 3 0
    200 U ant--dec 0 1 8 3 1
    210 U dec--out 200 1 8 3
  )");
  CHECK(world.journeys() ==
        Lines{"U complete 100..210: ant--dec@100 ant--dec@200=0 dec--out@210<1*"});
}

TEST_CASE("a later round of another size is of another block of its process") {
  World world("U dec--demux len::fm.hqpid.hqround U demux--out len::fm.lcid.sn");
  world.events(R"(
    100 U dec--demux 139 7 3 0
    200 U dec--demux 175 8 3 1
    210 U demux--out 150 8 4 5
  )");
  const auto journeys = world.journeys();
  CHECK(journeys[0] == "U complete 200..210: dec--demux@200 demux--out@210<0*");
  CHECK(world.at("U dec--demux").repeats == 0);
}

TEST_CASE("a round that is stamped a little before it came in is one with it") {
  World world(R"(
    U ant--demod ::fm.hqpid.hqround
    U demod--out ::fm.hqpid.hqround
  )");
  world.events(R"(
    100 t1 U ant--demod 7 3 0
    1000 t1 U ant--demod 9 3 1
    8000 t2 U demod--out 10 3 2
    9000 t1 U ant--demod 10 3 2
  )");
  CHECK(world.journeys() ==
        Lines{"U complete 100..9000: ant--demod@100 ant--demod@1000=0 ant--demod@9000=1 "
              "demod--out@9000<2*"});
}

TEST_CASE("a packet that leaves by a point with rounds is one, and may leave again for a second") {
  World world("D in--mac len:rnti:harq.slot D mac--out len:rnti:harq.slot.round");
  world.events(R"(
    100 D in--mac 700 1 3 10
    200 D mac--out 700 1 3 10 0
    900000000 D mac--out 700 1 3 40 1
    2500000000 D in--mac 700 1 4 50
  )");
  CHECK(world.journeys() ==
        Lines{"D complete 100..200: in--mac@100 mac--out@200<0* mac--out@900000000<0=1",
              "D censored 2500000000..2500000000: in--mac@2500000000"});
}

TEST_CASE("a round that is a property does not come before a unit of its process that waits") {
  World world(R"(
    U start--dec hqround::fm.hqpid
    U dec--retx ::fm.hqpid.fmrtx
    U retx--start hqround::fmrtx.hqpid
    U dec--out len::fm.hqpid
  )");
  world.events(R"(
    100 U start--dec 0 7 3
    110 U dec--retx 7 3 9
    120 U retx--start 1 9 3
    200 U start--dec 1 9 3
    210 U dec--out 50 9 3
  )");
  CHECK(world.journeys() ==
        Lines{"U complete 100..210: start--dec@100 dec--retx@110<0 retx--start@120<1 "
              "start--dec@200<2=0 dec--out@210<3*"});
}

TEST_CASE("if only decoded blocks are recorded, in any round, each is a block of its own") {
  World world(R"(
    U dec--demux len::fm.hqpid.hqround
    U demux--rlc len::fm.hqpid.lcid.sn
    U rlc--out len::sn
  )");
  world.marks.open_ns = 1;
  std::string events;
  for (std::uint64_t i = 0; i < 8; ++i)
    events += fmt::format(
        "{0}0 U dec--demux 200 {1} 3 {2}\n{0}1 U demux--rlc 100 {1} 3 4 {1}\n"
        "{0}2 U rlc--out 100 {1}\n",
        i + 1, i, i % 3);
  world.events(events);
  CHECK(world.journeys().size() == 8);
  for (const auto& seen : world.seen()) {
    CHECK(seen.journey.outcome == Outcome::kComplete);
    CHECK(seen.journey.retransmissions == 0);
    CHECK(seen.journey.latency_ns() == 2);
  }
  CHECK(world.at("U dec--demux").orphans + world.at("U dec--demux").cut == 0);
}

constexpr std::string_view kReassembly = R"(
    U mac--rlc len:rnti:rsn.so
    U rlc--pdcp len:rnti:rsn
    U pdcp--out len:rnti:rsn
)";

TEST_CASE("bytes that come again before their unit is whole are thrown away, and that is doubted") {
  World world(kReassembly);
  world.events(R"(
    100 U mac--rlc 600 1 9 0
    200 U mac--rlc 600 1 9 0
    210 U mac--rlc 500 1 9 100
    300 U mac--rlc 300 1 9 600
    310 U rlc--pdcp 900 1 9
    320 U pdcp--out 900 1 9
  )");
  CHECK(world.journeys() == Lines{"U complete 100..320: mac--rlc@100 mac--rlc@300 "
                                  "rlc--pdcp@310<0,1 pdcp--out@320<2*"});
  CHECK(world.seen()[0].journey.segments == 2);
  CHECK(world.seen()[0].doubts == Lines{"2 others mac--rlc@210(500 1 9 100)s0#2 "
                                        "mac--rlc@200(600 1 9 0)s0#1"});
  CHECK(world.at("U mac--rlc").repeats == 2);
}

TEST_CASE("a piece that was left over long ago is not the same that comes later") {
  World world(kReassembly);
  world.events(R"(
    100 U mac--rlc 600 1 9 0
    5000000000 U mac--rlc 600 1 9 0
    5000000100 U mac--rlc 300 1 9 600
    5000000200 U rlc--pdcp 900 1 9
    5000000300 U pdcp--out 900 1 9
  )");
  const auto journeys = world.journeys();
  CHECK(journeys[0] ==
        "U complete 5000000000..5000000300: mac--rlc@5000000000 "
        "mac--rlc@5000000100 rlc--pdcp@5000000200<0,1 pdcp--out@5000000300<2*");
  CHECK_FALSE(world.seen()[0].journey.ambiguous);
}

}  // namespace
}  // namespace sojourn::journeys
