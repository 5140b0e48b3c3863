// The outcome of journeys that a rebuild cannot see whole, and the limits of its memory.
#include <algorithm>
#include <optional>

#include <catch2/catch_test_macros.hpp>
#include <fmt/core.h>

#include "tests/unit/journeys/world.h"

namespace sojourn::journeys {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kLine = R"(
    D in--a len:rnti:sn
    D a--b len:rnti:sn
    D b--out len:rnti:sn
)";

constexpr std::string_view kUp = R"(
    U ant--phy len:rnti:slot
    U phy--rlc.rx len:rnti:rsn.so.slot
    U rlc.rx--out len:rnti:rsn
)";

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST_CASE("a journey that the start of the capture cut is censored, not an orphan") {
  World world(kLine);
  world.marks = {.open_ns = 1000, .close_ns = 9000};
  world.events(R"(
    1100 D a--b 1000 1 7
    1120 D b--out 1000 1 7
  )");
  CHECK(world.journeys() == Lines{"D censored 1100..1120: a--b@1100 b--out@1120<0"});
  CHECK(world.at("D a--b").cut == 1);
  CHECK(world.at("D a--b").orphans == 0);
  CHECK(world.seen()[0].journey.headless);
}

TEST_CASE("a journey that the end of the capture cut is censored, not incomplete") {
  World world(kLine);
  world.marks = {.open_ns = 1000, .close_ns = 9000};
  world.events("8000 D in--a 1000 1 7\n 8100 D a--b 1000 1 7");
  CHECK(world.journeys() == Lines{"D censored 8000..8100: in--a@8000 a--b@8100<0"});
  CHECK(world.stays("b") == "b +8100 ~9000");
}

TEST_CASE("an event without a parent long after the start is an orphan, and no journey") {
  World world(kLine);
  world.marks.open_ns = 1000;
  world.events("20000000000 D a--b 1000 1 7\n 20000000010 D b--out 1000 1 7");
  CHECK(world.journeys().empty());
  CHECK(world.at("D a--b").orphans == 1);
  CHECK(world.at("D b--out").orphans == 0);
}

TEST_CASE("a child whose parent is stamped a little later is put behind it") {
  World world(kLine);
  world.events(R"(
    100000 t1 D in--a 1000 1 7
    108000 t2 D b--out 1000 1 7
    110000 t3 D a--b 1000 1 7
    200000 t1 D in--a 1000 1 8
    209000 t3 D a--b 1000 1 8
  )");
  CHECK(world.journeys() ==
        Lines{"D complete 100000..110000: in--a@100000 a--b@110000<0 b--out@110000<1*",
              "D censored 200000..209000: in--a@200000 a--b@209000<0"});
  CHECK(world.hops("b") == "b 0");
  CHECK(world.at("D b--out").orphans + world.at("D b--out").cut == 0);
}

TEST_CASE("a thread's next event is no late parent of its earlier ones") {
  World world(kLine);
  world.marks.open_ns = 1;
  world.events(R"(
    100000 t1 D a--b 1000 1 7
    108000 t1 D in--a 1000 1 7
    200000 t1 D a--b 1000 1 7
    210000 t1 D b--out 1000 1 7
  )");
  CHECK(world.journeys() ==
        Lines{"D complete 108000..210000: in--a@108000 a--b@200000<0 b--out@210000<1*",
              "D censored 100000..100000: a--b@100000"});
  CHECK(world.at("D a--b").cut == 1);
}

TEST_CASE("an event that waits in vain is the parent of its thread's next event") {
  World world(kLine);
  world.marks.open_ns = 1;
  // The numbers show the parent of each child; where they are equal, the order on the thread does.
  world.events(R"(
    100000 t1 D a--b 1000 1 7
    100010 t1 D b--out 1000 1 7
    100100 t1 D a--b 1000 1 8
    100110 t1 D b--out 1000 1 8
    100200 t1 D a--b 1000 1 8
    100210 t1 D b--out 1000 1 8
  )");
  CHECK(world.journeys() == Lines{"D censored 100100..100110: a--b@100100 b--out@100110<0",
                                  "D censored 100000..100010: a--b@100000 b--out@100010<0",
                                  "D censored 100200..100210: a--b@100200 b--out@100210<0"});
  CHECK(world.at("D b--out").orphans + world.at("D b--out").cut == 0);
}

TEST_CASE("a packet that is put together waits for a piece that is stamped late") {
  World world(kUp);
  world.events(R"(
    1000 t1 U ant--phy 1000 1 4
    1010 t2 U phy--rlc.rx 600 1 7 0 4
    1500 t3 U rlc.rx--out 1000 1 7
    1700 t2 U phy--rlc.rx 400 1 7 600 4
  )");
  CHECK(world.journeys() == Lines{"U complete 1000..1700: ant--phy@1000 phy--rlc.rx@1010<0 "
                                  "phy--rlc.rx@1700<0 rlc.rx--out@1700<1,2*"});
  CHECK(world.totals().missing_pieces == 0);
}

TEST_CASE("how late a parent may be can be stated") {
  World world(kLine);
  world.rules.late_ns = 5000;
  world.marks.open_ns = 1;
  world.events(R"(
    20000000000 t1 D in--a 1000 1 7
    20000008000 t2 D b--out 1000 1 7
    20000014000 t3 D a--b 1000 1 7
  )");
  world.journeys();
  CHECK(world.at("D b--out").orphans == 1);
}

TEST_CASE("a parent that may be among lost events is an excuse") {
  World world(kLine);
  world.marks.open_ns = 1000;
  world.events("20000000000 D in--a 1000 1 6");
  world.lose(3);
  world.events("20000000100 D a--b 1000 1 7\n 20000000110 D b--out 1000 1 7");
  const auto journeys = world.journeys();
  CHECK(journeys.front() ==
        "D censored 20000000100..20000000110: a--b@20000000100 b--out@20000000110<0");
  CHECK(world.at("D a--b").cut == 1);
  CHECK(world.totals().lost == 3);
}

TEST_CASE("thousands of waiting units are distinguished by every id of a long key") {
  World world(R"(
    D in--a len:cell.rnti:lcg.drb.qfi.sn.slot
    D a--out len:cell.rnti:lcg.drb.qfi.sn.slot
  )");
  constexpr int kUnits = 3000;
  std::string lines;
  std::uint64_t now_ns = 1000;
  // All differ in the last id only.
  for (int unit = 0; unit < kUnits; ++unit)
    lines += fmt::format("{} D in--a 100 1 2 3 4 5 6 {}\n", now_ns += 10, unit);
  // They leave in another order than they came in. It is done twice, so that memory is used again.
  for (int unit = kUnits - 1; unit >= 0; --unit)
    lines += fmt::format("{} D a--out 100 1 2 3 4 5 6 {}\n", now_ns += 10, unit);
  now_ns += kSecond;
  for (int unit = 0; unit < kUnits; ++unit) {
    lines += fmt::format("{} D in--a 100 1 2 3 4 5 6 {}\n", now_ns += 10, unit);
    lines += fmt::format("{} D a--out 100 1 2 3 4 5 6 {}\n", now_ns += 10, unit);
  }
  world.events(lines);
  const auto journeys = world.journeys();
  REQUIRE(journeys.size() == 2 * kUnits);
  for (const auto& seen : world.seen()) {
    CHECK(seen.journey.outcome == Outcome::kComplete);
    CHECK_FALSE(seen.journey.ambiguous);
    CHECK(seen.journey.segments == 1);
  }
  // The first in was the last out.
  const auto first = "D complete 1010..61000: in--a@1010 a--out@61000<0*";
  CHECK(std::ranges::find(journeys, first) != journeys.end());
  const auto last =
      fmt::format("D complete {0}..{1}: in--a@{0} a--out@{1}<0*", now_ns - 10, now_ns);
  CHECK(std::ranges::find(journeys, last) != journeys.end());
}

TEST_CASE("kernel events and samples are no part of journeys, and their losses excuse nothing") {
  World world(std::string(kLine) + "K sched.switch ::next\n Q queue.sample ::id\n");
  world.marks.open_ns = 1000;
  world.events("20000000000 D in--a 1000 1 6\n 20000000010 t5 s1 K sched.switch 7");
  world.lose(3, 1);
  world.events(R"(
    20000000100 t5 s1 K sched.switch 8
    20000000100 t5 s1 Q queue.sample 8
    20000000100 D a--b 1000 1 7
    20000000110 D b--out 1000 1 7
  )");
  CHECK(world.journeys().size() == 1);  // the one that is still inside when the trace ends
  CHECK(world.at("D a--b").orphans == 1);
  CHECK(world.totals().lost == 0);
  CHECK(world.totals().events == 3);
}

TEST_CASE("losses that only the ledger knows of are an excuse too, in their direction") {
  using enum model::Direction;
  for (const auto direction : {std::optional<model::Direction>(), {kDownlink}, {kUplink}}) {
    const bool excuses = direction != kUplink;
    World world(kLine);
    world.marks = {.open_ns = 1000,
                   .close_ns = 0,
                   .first_seqs = {},
                   .losses = {{.begin_ns = 1000, .end_ns = UINT64_MAX, .direction = direction}}};
    world.events("1000 D in--a 1000 1 7");
    world.events(std::to_string(20 * kSecond) + " D a--b 1000 1 9");
    const auto journeys = world.journeys();
    CHECK(journeys[0] ==
          (excuses ? "D censored 1000..1000: in--a@1000" : "D incomplete 1000..1000: in--a@1000"));
    CHECK(world.at("D a--b").cut == (excuses ? 1 : 0));
  }
}

TEST_CASE("an unfinished packet is incomplete after its time, and censored if something was lost") {
  for (const bool lossy : {false, true}) {
    World world(kLine);
    world.events("1000 D in--a 1000 1 7");
    if (lossy) world.lose(1);
    world.events("2000 D in--a 1000 1 8\n 2010 D a--b 1000 1 8\n 2020 D b--out 1000 1 8");
    world.events(std::to_string(11 * kSecond) + " D in--a 1000 1 9");
    const auto journeys = world.journeys();
    REQUIRE(journeys.size() == 3);
    CHECK(journeys[0].starts_with("D complete 2000..2020"));
    CHECK(journeys[1] ==
          (lossy ? "D censored 1000..1000: in--a@1000" : "D incomplete 1000..1000: in--a@1000"));
    CHECK(world.totals().expired_by_time == 1);
    CHECK(world.stays("a").find("~11000000000") != std::string::npos);
  }
}

TEST_CASE("a unit that waits for its parent expires like the others when all streams fall silent") {
  World world(R"(
    D a--b len:rnti:sn
    D b--c len:rnti:sn
    D c--d len:rnti:sn
  )");
  world.events("1000 D a--b 5 1 9\n1001 D b--c 5 1 1");
  world.events(std::to_string(1000 * kSecond) + " D c--d 5 1 1");
  CHECK(world.journeys() == std::vector<std::string>{"D incomplete 1000..1000: a--b@1000",
                                                     "D censored 1001..1001: b--c@1001"});
  CHECK(world.totals().expired_by_time == 2);
  CHECK(world.at("D c--d").orphans == 1);
}

TEST_CASE("an uplink unit that never leaves is one incomplete journey with all its pieces") {
  World world(kUp);
  world.events(R"(
    1000 U ant--phy 500 1 10
    1001 U phy--rlc.rx 400 1 5 0 10
    1100 U ant--phy 500 1 11
    1101 U phy--rlc.rx 300 1 5 400 11
  )");
  world.events(std::to_string(11 * kSecond) + " U ant--phy 500 1 99");
  const auto journeys = world.journeys();
  REQUIRE(journeys.size() == 2);
  CHECK(journeys[0] ==
        "U incomplete 1000..1101: ant--phy@1000 phy--rlc.rx@1001<0 ant--phy@1100 "
        "phy--rlc.rx@1101<2");
  CHECK(journeys[1] == "U censored 11000000000..11000000000: ant--phy@11000000000");
}

TEST_CASE("a block of which one piece was taken out was not empty") {
  World world(kUp);
  PairRule cuts;
  cuts.parent = {model::Direction::kUplink, "ant--phy", {}};
  cuts.child = {model::Direction::kUplink, "phy--rlc.rx", {}};
  cuts.gathers = false;
  cuts.cuts = true;
  world.rules.pairs.push_back(cuts);
  world.events(R"(
    1000 U ant--phy 1000 1 10
    1001 U phy--rlc.rx 400 1 5 0 10
    1002 U rlc.rx--out 400 1 5
    1100 U ant--phy 1000 1 11
  )");
  world.events(std::to_string(11 * kSecond) + " U ant--phy 500 1 99");
  CHECK(world.journeys() ==
        Lines{"U complete 1000..1002: ant--phy@1000 phy--rlc.rx@1001<0 rlc.rx--out@1002<1*",
              "U incomplete 1000..1000: ant--phy@1000",
              "U censored 11000000000..11000000000: ant--phy@11000000000"});
  CHECK(world.at("U ant--phy").control == 1);
}

TEST_CASE("an uplink packet with a piece from before the start is censored") {
  World world(kUp);
  world.marks.open_ns = 900;
  world.events(R"(
    1000 U ant--phy 500 1 11
    1001 U phy--rlc.rx 300 1 5 400 11
    1002 U rlc.rx--out 700 1 5
  )");
  CHECK(world.journeys() ==
        Lines{"U censored 1000..1002: ant--phy@1000 phy--rlc.rx@1001<0 rlc.rx--out@1002<1"});
  CHECK(world.totals().missing_pieces == 1);
}

TEST_CASE("a drop for want of a piece is censored if the start may have cut the piece off") {
  World world(std::string(kUp) + "U rlc.rx--drop len:rnti:rsn");
  world.marks = {.open_ns = 1000, .close_ns = 40 * kSecond};
  world.events(R"(
    1100 U ant--phy 500 1 10
    1110 U phy--rlc.rx 500 1 7 300 10
    1200 U rlc.rx--drop 800 1 7
    1300 U ant--phy 500 1 12
    1310 U phy--rlc.rx 500 1 9 300 12
    1400 U rlc.rx--drop 500 1 9
    20000001100 U ant--phy 500 1 11
    20000001110 U phy--rlc.rx 500 1 8 300 11
    20000001200 U rlc.rx--drop 800 1 8
  )");
  CHECK(world.journeys() ==
        Lines{"U dropped 1300..1400: ant--phy@1300 phy--rlc.rx@1310<0 rlc.rx--drop@1400<1",
              "U censored 1100..1200: ant--phy@1100 phy--rlc.rx@1110<0 rlc.rx--drop@1200<1",
              "U dropped 20000001100..20000001200: ant--phy@20000001100 "
              "phy--rlc.rx@20000001110<0 rlc.rx--drop@20000001200<1"});
  CHECK(!world.seen()[0].journey.headless);
  CHECK(world.seen()[1].journey.headless);
  CHECK(!world.seen()[2].journey.headless);
  CHECK(world.totals().missing_pieces == 0);
  CHECK(world.at("U rlc.rx--drop").orphans == 0);
}

TEST_CASE("a child's length that counts a header too is learnt, not held against its pieces") {
  World world(kUp);
  world.marks.open_ns = 1;
  std::string events;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const auto at = 20 * kSecond + i * 1000;
    events += std::to_string(at) + " U ant--phy 500 1 " + std::to_string(i) + "\n";
    events += std::to_string(at + 1) + " U phy--rlc.rx 300 1 " + std::to_string(i) + " 0 " +
              std::to_string(i) + "\n";
    events += std::to_string(at + 2) + " U rlc.rx--out 320 1 " + std::to_string(i) + "\n";
  }
  world.events(events);
  const auto journeys = world.journeys();
  std::size_t complete = 0;
  for (const auto& journey : journeys) complete += journey.starts_with("U complete");
  CHECK(journeys.size() == 200);
  CHECK(complete == 200 - 64);
}

TEST_CASE("a left-over gives way when its number is used again much later") {
  World world(kLine);
  std::string events = "5 D in--a 1000 1 7\n";
  for (std::uint64_t i = 0; i < 200; ++i) {
    const auto number = std::to_string(1000 + i);
    events += std::to_string(1000 * i + 10) + " D in--a 1000 1 " + number + "\n";
    events += std::to_string(1000 * i + 20) + " D a--b 1000 1 " + number + "\n";
    events += std::to_string(1000 * i + 30) + " D b--out 1000 1 " + number + "\n";
  }
  events += std::to_string(2 * kSecond) + " D in--a 1000 1 7\n";
  events += std::to_string(2 * kSecond + 9) + " t9 D a--b 1000 1 7\n";
  world.events(events);
  world.journeys();
  CHECK(world.totals().expired_by_reuse == 1);
  CHECK(world.at("D a--b").ambiguous == 0);
}

TEST_CASE("a left-over is not the parent of a unit of its number whose own event was lost") {
  for (const std::uint64_t waited_ns : {kSecond / 2, 2 * kSecond}) {
    World world(kLine);
    std::string events = "5 D in--a 1000 1 7\n";
    for (std::uint64_t i = 0; i < 200; ++i) {
      const auto number = std::to_string(1000 + i);
      events += std::to_string(1000 * i + 10) + " D in--a 1000 1 " + number + "\n";
      events += std::to_string(1000 * i + 20) + " D a--b 1000 1 " + number + "\n";
      events += std::to_string(1000 * i + 30) + " D b--out 1000 1 " + number + "\n";
    }
    world.events(events);
    world.lose(1);
    world.events(std::to_string(waited_ns) + " t9 D a--b 1000 1 7\n" +
                 std::to_string(waited_ns + 10) + " D b--out 1000 1 7\n");
    world.journeys();
    std::uint64_t late = 0;
    for (const auto& seen : world.seen())
      if (seen.journey.outcome == Outcome::kComplete && seen.journey.latency_ns() > 1000) {
        ++late;
        CHECK(seen.journey.ambiguous);
      }
    CHECK(late == (waited_ns < kSecond ? 1 : 0));
    CHECK(world.at("D a--b").cut == (waited_ns < kSecond ? 0 : 1));
  }
}

TEST_CASE("memory is bounded: the oldest give way and are counted") {
  World world(kLine);
  world.rules.max_units = 100;
  std::string events;
  for (std::uint64_t i = 0; i < 1000; ++i)
    events += std::to_string(1000 + i) + " D in--a 1000 1 " + std::to_string(i) + "\n";
  world.events(events);
  CHECK(world.journeys().size() == 1000);
  CHECK(world.totals().peak_units <= 101);
  CHECK(world.totals().expired_by_memory == 900);
  CHECK(world.totals().crowded == 900);
}

TEST_CASE(
    "repeats of a unit that joins very many count for one journey, so that memory is bounded") {
  for (const std::size_t joined : {200, 400}) {
    World world(R"(
      D in--a len:rnti:gsn
      D a--out len:rnti
    )");
    std::string events;
    for (std::size_t i = 0; i < joined; ++i)
      events += std::to_string(100 + i) + " D in--a 100 1 " + std::to_string(i) + "\n";
    for (const auto* at : {"1000", "1001", "1002"}) events += std::string(at) + " D a--out 100 1\n";
    world.events(events);
    CHECK(world.journeys().size() == joined);
    std::size_t repeats = 0;
    for (const auto& seen : world.seen()) repeats += seen.journey.retransmissions;
    CHECK(repeats == (joined == 200 ? 2 * joined : 2));
  }
}

TEST_CASE("the memory of very many packets in one block's units is bounded") {
  World world(R"(
    D in--a len:rnti:gsn
    D a--b len:rnti:slot
    D b--out len:rnti:slot.sn
  )");
  constexpr std::size_t kPackets = 400;
  world.rules.max_units = 4000;
  std::string events;
  for (std::size_t i = 0; i < kPackets; ++i)
    events += std::to_string(100 + i) + " D in--a 100 1 " + std::to_string(i) + "\n";
  events += "1000 D a--b 100 1 7\n";
  for (std::size_t i = 0; i < kPackets; ++i)
    events += std::to_string(1001 + i) + " D b--out 100 1 7 " + std::to_string(i) + "\n";
  world.events(events);
  CHECK(world.journeys().size() >= kPackets);
  CHECK(world.totals().crowded > 0);
  CHECK(world.totals().peak_units < world.rules.max_units + kPackets);
}

TEST_CASE("very many of one stamp that wait for a parent in vain are soon let go") {
  World world(kLine);
  constexpr std::size_t kUnits = 5000;
  std::string events = "1000 D in--a 100 1 1\n";
  for (const auto* point : {"a--b", "b--out"})
    for (std::size_t i = 0; i < kUnits; ++i)
      events += "50000 D " + std::string(point) + " 100 1 " + std::to_string(7 + i) + "\n";
  world.events(events);
  CHECK(world.journeys().size() == kUnits + 1);
  CHECK(world.at("D a--b").cut + world.at("D a--b").orphans == kUnits);
  CHECK(world.at("D b--out").cut + world.at("D b--out").orphans == 0);
}

TEST_CASE("units that go in circles do not make an endless journey") {
  World world("D loop--loop len:rnti:sn\n D in--loop len:rnti:sn");
  world.rules.settle_ns = world.rules.linger_ns = world.rules.expiry_ns = 1'000'000'000'000;
  std::string events = "1 D in--loop 1 1 1\n";
  for (std::uint64_t i = 2; i < 30'000; ++i) events += std::to_string(i) + " D loop--loop 1 1 1\n";
  world.events(events);
  CHECK_FALSE(world.journeys().empty());
}

TEST_CASE("a point whose events have another number of values is counted, not guessed") {
  auto point = model::parse_point("D in--a", "len:rnti:sn");
  REQUIRE(point);
  Observer nobody;
  auto rebuilder = Rebuilder::create({{*point}}, {}, {}, nobody);
  REQUIRE(rebuilder);
  const std::uint64_t values[] = {1, 2};
  model::EventBatch batch;
  batch.append({10, 0, 0, 1, 0, values});
  batch.append({11, 1, 0, 1, 4, values});
  rebuilder->consume(batch);
  rebuilder->finish();
  CHECK(rebuilder->totals().points[0].malformed == 1);
  CHECK(rebuilder->totals().unknown_points == 1);
}

TEST_CASE("no events, no journeys") {
  World world(radio_points());
  CHECK(world.journeys().empty());
}

TEST_CASE("a unit that was given up may be repeated still, and is not given up twice") {
  World world(R"(
    U ant--demod ::hqpid.hqround
    U demod--dec ::hqpid.hqround
    U dec--demux ::hqpid
  )");
  world.rules.expiry_ns = 100;
  // The reception is remembered; the demodulated data of its first round is no longer waited for.
  world.events(R"(
    100 U ant--demod 4 0
    110 U demod--dec 4 0
    400 U ant--demod 4 1
    410 U demod--dec 4 1
    420 U dec--demux 4
  )");
  CHECK(world.journeys() ==
        Lines{"U incomplete 100..110: ant--demod@100 demod--dec@110<0",
              "U complete 100..420: ant--demod@100 demod--dec@110<0 ant--demod@400=0 "
              "demod--dec@410<2=1 dec--demux@420<3*"});
  CHECK(world.stays("dec") == "dec +110 ~400 +410 -420");
}

}  // namespace
}  // namespace sojourn::journeys
