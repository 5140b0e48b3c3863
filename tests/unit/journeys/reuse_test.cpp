// Ids that are used again while older units of them are still about: buffers and processes; and
// units that are made inside, which are no packets. Numbers are in number_reuse_test.cpp.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/unit/journeys/reuse_points.h"
#include "tests/unit/journeys/world.h"

namespace sojourn::journeys {
namespace {

using Lines = std::vector<std::string>;

TEST_CASE("rounds that come back in a loop are one journey, in which each block counts once") {
  World world(kUp);
  world.events(R"(
    100 U start--dec 7 3 0
    110 U dec--retx 7 3
    111 U retx--start 3 1
    500 U start--dec 9 3 1
    510 U dec--demux 200 9 3 1
    520 U demux--rlc 103 9 3 4 77
    521 U rlc--sdu 100 77 5 0
    522 U sdu--out 100 5
  )");
  CHECK(world.journeys() ==
        Lines{"U complete 100..522: start--dec@100 dec--retx@110<0 retx--start@111<1 "
              "start--dec@500<2=0 dec--demux@510<3 demux--rlc@520<4 rlc--sdu@521<5 "
              "sdu--out@522<6*"});
  CHECK(world.seen()[0].journey.segments == 1);
  CHECK(world.seen()[0].journey.retransmissions == 1);
  CHECK(world.seen()[0].journey.harq_retransmissions == 1);
  CHECK(world.at("U start--dec").orphans + world.at("U start--dec").cut == 0);
}

TEST_CASE("the entry of a loop is learnt, and a later round cannot be its beginning") {
  World world(kUp);
  world.marks.open_ns = 1;
  std::string events;
  for (int i = 0; i < 40; ++i)
    events += fmt::format("{} U start--dec {} 3 0\n", 20'000'000'000 + i, i);
  // Neither of these has a parent: neither the round before nor the reception was seen.
  events += "20000001000 U start--dec 50 4 2\n20000002000 U dec--retxdrop 60 5\n";
  world.events(events);
  world.journeys();
  CHECK(world.at("U start--dec").orphans == 1);
  CHECK(world.at("U dec--retxdrop").orphans == 1);
}

// Like kUp, but blocks are seen to enter the loop.
const std::string kFedUp = "U air--start ::fm.hqpid.hqround\n" + std::string(kUp);

// Two blocks of one process that wait for a second round, and appear in the given order from the
// given time on. No id shows that they have two senders.
std::string two_blocks(std::uint64_t ms, int sn, bool first_comes_first) {
  const auto at = [&](std::uint64_t after_us) { return ms * 1'000'000 + after_us * 1000; };
  std::string events;
  for (const int block : {0, 1}) {
    const auto fm = ms + static_cast<std::uint64_t>(block);
    events += fmt::format("{} U air--start {} 3 0\n", at(90 + 100 * block), fm);
    events += fmt::format("{} U start--dec {} 3 0\n", at(100 + 100 * block), fm);
    events += fmt::format("{} U dec--retx {} 3\n", at(110 + 100 * block), fm);
    events += fmt::format("{} U retx--start 3 1\n", at(120 + 100 * block));
  }
  for (const int round : {0, 1}) {
    const auto fm = ms + 10 + static_cast<std::uint64_t>(round);
    const int block = first_comes_first ? round : 1 - round;
    const auto from = 1000 + 1000 * static_cast<std::uint64_t>(round);
    events += fmt::format("{} U start--dec {} 3 1\n", at(from), fm);
    events += fmt::format("{} U dec--demux 200 {} 3 1\n", at(from + 100), fm);
    events += fmt::format("{} U demux--rlc 103 {} 3 4 {}\n", at(from + 200), fm, 70 + block);
    events += fmt::format("{} U rlc--sdu 100 {} {} 0\n", at(from + 300), 70 + block, sn + block);
    events += fmt::format("{} U sdu--out 100 {}\n", at(from + 400), sn + block);
  }
  return events;
}

TEST_CASE(
    "two blocks of one process: the taker of one of them is in doubt, also before it is known") {
  World world(kFedUp);
  world.events(two_blocks(5000, 5, true));
  const auto journeys = world.journeys();
  // The first journey is held back until the second has shown that both had been there.
  std::vector<std::string> doubts;
  for (const auto& seen : world.seen()) {
    if (seen.journey.outcome != Outcome::kComplete) continue;
    CHECK(seen.journey.ambiguous);
    doubts.insert(doubts.end(), seen.doubts.begin(), seen.doubts.end());
  }
  CHECK(doubts == Lines{"4 others retx--start@5000220000(3 1)s0#7",
                        "4 others retx--start@5000120000(3 1)s0#3"});
  CHECK(world.at("U start--dec").ambiguous == 2);
  CHECK(world.totals().expired_by_reuse == 1);
  CHECK(world.totals().mixed_senders);
}

TEST_CASE("once it is known that a process has several blocks at a time, each of them stays") {
  World world(kFedUp);
  world.events(two_blocks(5000, 5, true) + two_blocks(8000, 7, true) + two_blocks(9000, 9, false));
  const auto journeys = world.journeys();
  std::size_t complete = 0;
  for (const auto& seen : world.seen()) {
    complete += seen.journey.outcome == Outcome::kComplete ? 1 : 0;
    CHECK((seen.journey.outcome != Outcome::kComplete || seen.journey.ambiguous));
  }
  CHECK(complete == 6);
  CHECK(world.totals().expired_by_reuse == 1);
  CHECK(world.at("U start--dec").ambiguous == 6);
  CHECK(world.at("U start--dec").orphans + world.at("U start--dec").cut == 0);
}

TEST_CASE("a round whose own block was lost does not show that two were there") {
  World world(kUp);
  world.events(R"(
    5000000000 U start--dec 1 3 0
    5000100000 U dec--retx 1 3
    5000200000 U retx--start 3 1
    5001000000 U start--dec 2 3 0
    5001100000 U dec--retx 2 3
    5001200000 U retx--start 3 1
    5002000000 U start--dec 3 3 1
    5002100000 U dec--demux 200 3 3 1
    5002200000 U demux--rlc 103 3 3 4 77
    5002300000 U rlc--sdu 100 77 5 0
    5002400000 U sdu--out 100 5
  )");
  world.lose(3);
  world.events("5003000000 U start--dec 4 3 1\n");
  CHECK(!world.journeys().empty());
  CHECK(world.at("U start--dec").ambiguous == 0);
  CHECK_FALSE(world.totals().mixed_senders);
}

TEST_CASE("a unit that waits for an event without a parent waits no longer than that event") {
  World world(kUp);
  world.events(R"(
    5000000000 t1 U start--dec 9 3 0
    5000030000 t2 U dec--demux 100 9 3 0
    5000100000 t1 U start--dec 9 3 2
    5000115000 t2 U dec--demux 200 9 3 2
    5000121000 t3 U demux--rlc 203 9 3 4 77
    5000121100 t3 U rlc--sdu 200 77 5 0
    5000121200 t3 U sdu--out 200 5
  )");
  const auto journeys = world.journeys();
  REQUIRE(!journeys.empty());
  CHECK(journeys[0].contains("dec--demux@5000115000"));
}

TEST_CASE("a round that never came is not taken for the next one of its process") {
  World world(kUp);
  world.events(R"(
    100 U start--dec 7 3 0
    110 U dec--retx 7 3
    111 U retx--start 3 1
    300 U start--dec 8 3 0
    310 U dec--retx 8 3
    311 U retx--start 3 1
    500 U start--dec 9 3 1
    510 U dec--demux 200 9 3 1
    520 U demux--rlc 103 9 3 4 77
    521 U rlc--sdu 100 77 5 0
    522 U sdu--out 100 5
  )");
  const auto journeys = world.journeys();
  REQUIRE(!journeys.empty());
  CHECK(std::ranges::any_of(journeys, [](const std::string& journey) {
    return journey.starts_with("U complete 300..522: ");
  }));
  CHECK(world.totals().expired_by_reuse == 1);
}

TEST_CASE("a buffer that is used again holds only its last unit") {
  World world(kUp);
  world.events(R"(
    100 U start--dec 7 3 0
    110 U dec--demux 200 7 3 0
    120 U demux--rlc 3 7 3 4 77
    121 U start--dec 8 4 0
    122 U dec--demux 200 8 4 0
    130 U demux--rlc 103 8 4 4 77
    131 U rlc--sdu 100 77 5 0
    132 U sdu--out 100 5
    140 U rlc--sdu 100 77 6 0
  )");
  const auto journeys = world.journeys();
  REQUIRE(!journeys.empty());
  CHECK(journeys[0] ==
        "U complete 121..132: start--dec@121 dec--demux@122<0 demux--rlc@130<1 rlc--sdu@131<2 "
        "sdu--out@132<3*");
  CHECK_FALSE(world.seen()[0].journey.ambiguous);
  // The first block had no SDU: it was a status PDU. And 140 does not belong to the block that was
  // handed on.
  CHECK(world.at("U demux--rlc").control == 1);
  CHECK(world.at("U rlc--sdu").cut == 1);
}

TEST_CASE("system information and paging are control, whatever else has no parent there") {
  World world(R"(
    D mux--txreq len:rnti:fm
    D txreq--phy len:rnti:fm
  )");
  world.marks.open_ns = 1;
  world.events(R"(
    20000000000 D txreq--phy 18 65535 7
    20000000001 D txreq--phy 18 65534 7
    20000000002 D txreq--phy 18 65533 7
  )");
  CHECK(world.journeys().empty());
  CHECK(world.at("D txreq--phy").control == 2);
  CHECK(world.at("D txreq--phy").orphans == 1);
}

TEST_CASE("a block that takes in numbered units, and had none, was made inside") {
  World world(R"(
    D rlc--mux len:rnti:rsn.fm
    D mux--txreq len:rnti:fm.harq
    D txreq--phy len:rnti:fm.harq
  )");
  world.marks.open_ns = 1;
  world.events(R"(
    20000000000 D mux--txreq 7 100 7 1
    20000000001 D txreq--phy 7 100 7 1
    20000000002 D txreq--phy 7 100 8 1
  )");
  CHECK(world.journeys().empty());
  CHECK(world.at("D mux--txreq").control == 1);
  CHECK(world.at("D mux--txreq").orphans == 0);
  CHECK(world.at("D txreq--phy").orphans == 1);
}

TEST_CASE("a block out of which nothing was taken had no packet in it, unless something was lost") {
  for (const bool lossy : {false, true}) {
    World world(kUp);
    world.events("100 U start--dec 7 3 0\n110 U dec--demux 200 7 3 0\n90000 U start--dec 8 3 0");
    if (lossy) world.lose(1);
    world.events("12000000000 U start--dec 9 3 0");
    const auto journeys = world.journeys();
    CHECK(world.at("U dec--demux").control == (lossy ? 0 : 1));
    CHECK(journeys.size() == (lossy ? 3 : 2));  // two others were never decoded
  }
}

TEST_CASE("two units of one block that lie at one address, one after the other, are two") {
  World world(kUp);
  world.events(R"(
    100 U start--dec 7 3 0
    110 U dec--demux 200 7 3 0
    120 U demux--rlc 3 7 3 4 77
    130 U demux--rlc 53 7 3 4 77
    131 U rlc--sdu 50 77 5 0
    132 U sdu--out 50 5
    140 U demux--rlc 63 7 3 4 77
    141 U rlc--sdu 60 77 6 0
    142 U sdu--out 60 6
  )");
  const auto journeys = world.journeys();
  REQUIRE(journeys.size() >= 2);
  CHECK(journeys[0] ==
        "U complete 100..132: start--dec@100 dec--demux@110<0 demux--rlc@130<1 rlc--sdu@131<2 "
        "sdu--out@132<3*");
  CHECK(journeys[1] ==
        "U complete 100..142: start--dec@100 dec--demux@110<0 demux--rlc@140<1 rlc--sdu@141<2 "
        "sdu--out@142<3*");
  CHECK(world.at("U demux--rlc").repeats == 0);
}

// A block's buffer is its own from where it begins until the next block begins in it. What is taken
// out of it is handled in a call of its own.
constexpr std::string_view kTold = R"(
    U phy--mac life-bb:rnti:slot.harq.bb
    U mac--rlc ::bb.call-rlc
    U rlc--pdcp ::call-rlc.sdu
)";

TEST_CASE("all that comes out of a buffer is of its block, where it is told when that ends") {
  World world(kTold);
  world.marks.open_ns = 1;
  // A status PDU in front of the data, behind it, and one alone.
  world.events(R"(
    20000000100 U phy--mac 1 70 10 3 501
    20000000110 U mac--rlc 501 601
    20000000120 U mac--rlc 501 602
    20000000121 U rlc--pdcp 602 801
    20000000200 U phy--mac 1 70 11 4 502
    20000000210 U mac--rlc 502 603
    20000000211 U rlc--pdcp 603 802
    20000000220 U mac--rlc 502 604
    20000000300 U phy--mac 1 70 12 5 503
    20000000310 U mac--rlc 503 605
    40000000000 U phy--mac 1 70 13 6 504
  )");
  const auto journeys = world.journeys();
  REQUIRE(journeys.size() == 3);
  CHECK(journeys[0] ==
        "U complete 20000000100..20000000121: phy--mac@20000000100 mac--rlc@20000000120<0 "
        "rlc--pdcp@20000000121<1*");
  CHECK(journeys[1] ==
        "U complete 20000000200..20000000211: phy--mac@20000000200 mac--rlc@20000000210<0 "
        "rlc--pdcp@20000000211<1*");
  CHECK(journeys[2] == "U censored 40000000000..40000000000: phy--mac@40000000000");
  CHECK(world.seen()[0].journey.retransmissions == 0);
  CHECK(world.seen()[0].journey.segments == 1);
  CHECK_FALSE(world.seen()[0].journey.ambiguous);
  CHECK(world.at("U mac--rlc").orphans + world.at("U mac--rlc").cut == 0);
  CHECK(world.at("U mac--rlc").repeats == 0);
  CHECK(world.at("U mac--rlc").control == 3);
}

TEST_CASE("two packets of one buffer are two journeys, where it is told when that ends") {
  World world(kTold);
  world.events(R"(
    100 U phy--mac 1 70 10 3 501
    110 U mac--rlc 501 601
    111 U rlc--pdcp 601 801
    120 U mac--rlc 501 602
    121 U rlc--pdcp 602 802
  )");
  CHECK(world.journeys() ==
        Lines{"U complete 100..111: phy--mac@100 mac--rlc@110<0 rlc--pdcp@111<1*",
              "U complete 100..121: phy--mac@100 mac--rlc@120<0 rlc--pdcp@121<1*"});
}

TEST_CASE("what comes out of a buffer that a block has left is of no block that is known") {
  World world(R"(
    U phy--mac :rnti:slot.harq.bb
    U mac--rlc ::bb.call-rlc
    U rlc--pdcp ::call-rlc.sdu
  )");
  world.events(R"(
    100 U phy--mac 70 10 3 501
    110 U mac--rlc 501 601
    111 U rlc--pdcp 601 801
    120 U mac--rlc 501 602
    121 U rlc--pdcp 602 802
  )");
  const auto journeys = world.journeys();
  REQUIRE(journeys.size() == 2);
  CHECK(journeys[1].ends_with(": mac--rlc@120 rlc--pdcp@121<0"));
  CHECK(world.at("U mac--rlc").cut == 1);
}

TEST_CASE("so are they where only the block itself says its process") {
  World world("U dec--demux ::fm.hqpid U demux--rlc ::fm.lcid.MRbuf U rlc--out ::MRbuf.sn");
  world.events(R"(
    100 U dec--demux 7 3
    110 U demux--rlc 7 4 77
    120 U rlc--out 77 5
    130 U demux--rlc 7 4 77
    140 U rlc--out 77 6
  )");
  CHECK(world.journeys() ==
        Lines{"U complete 100..120: dec--demux@100 demux--rlc@110<0 rlc--out@120<1*",
              "U complete 100..140: dec--demux@100 demux--rlc@130<0 rlc--out@140<1*"});
}

TEST_CASE("a unit out of a block has not come out of another one of the same ids as well") {
  World world(kUp);
  world.events(R"(
    100 U start--dec 7 3 0
    110 U dec--demux 200 7 3 0
    200 U start--dec 7 3 0
    210 U dec--demux 300 7 3 0
    220 U demux--rlc 53 7 3 4 77
    221 U rlc--sdu 50 77 5 0
    222 U sdu--out 50 5
  )");
  CHECK(world.journeys()[0] ==
        "U complete 200..222: start--dec@200 dec--demux@210<0 demux--rlc@220<1 rlc--sdu@221<2 "
        "sdu--out@222<3*");
}

TEST_CASE(
    "in a long instant of an imported trace, an address belongs to one unit after the other") {
  World world(kUp);
  world.events(R"(
    100 U start--dec 7 3 0
    110 U dec--demux 200 7 3 0
    120 U demux--rlc 53 7 3 4 77
    120 U rlc--sdu 50 77 5 0
    120 U demux--rlc 63 7 3 4 77
    120 U rlc--sdu 60 77 6 0
    120 U sdu--out 50 5
    120 U sdu--out 60 6
  )");
  const auto journeys = world.journeys();
  REQUIRE(journeys.size() == 2);
  CHECK(world.seen()[0].journey.segments == 1);
  CHECK(world.seen()[0].journey.outcome == Outcome::kComplete);
  CHECK(world.seen()[1].journey.outcome == Outcome::kComplete);
  CHECK(world.at("U demux--rlc").repeats == 0);
}

TEST_CASE("a child that is imported before its parent in one instant finds it all the same") {
  World world("U a--b ::sn U b--out ::sn");
  world.events(R"(
    100 U b--out 5
    100 U a--b 5
  )");
  CHECK(world.journeys() == Lines{"U complete 100..100: a--b@100 b--out@100<0*"});
}

TEST_CASE("what gives up its address is given up without the one that takes it over") {
  World world(R"(
    U demux--rlc len::lcid.MRbuf.sn
    U rlc--sdu len::lcid.sn
    U rlc--drop len::MRbuf
    U sdu--out len::sn
  )");
  // Both would be put together by their number.
  world.events(R"(
    100 U demux--rlc 50 4 77 5
    110 U demux--rlc 50 4 77 5
    120 U rlc--sdu 50 4 5
    130 U sdu--out 50 5
  )");
  CHECK(world.journeys() ==
        Lines{"U incomplete 100..100: demux--rlc@100",
              "U complete 110..130: demux--rlc@110 rlc--sdu@120<0 sdu--out@130<1*"});
  CHECK(world.stays("rlc") == "rlc +100 +110 ~110 -120");
  CHECK(world.totals().expired_by_reuse == 1);
}

}  // namespace
}  // namespace sojourn::journeys
