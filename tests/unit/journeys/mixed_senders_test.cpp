// Several senders without an id that tells them apart. Steps that only a number or a process ties
// become ambiguous once that shows, and earlier ones as far as their journeys were not reported
// yet.
#include <algorithm>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/unit/journeys/world.h"

namespace sojourn::journeys {
namespace {

using Lines = std::vector<std::string>;

// The doubts about complete journeys, in the order in which they became whole.
Lines doubts(const World& world) {
  auto seen = world.seen();
  std::ranges::sort(seen, {}, [](const World::Seen& one) { return one.journey.end_ns; });
  Lines result;
  for (const auto& one : seen)
    if (one.journey.outcome == Outcome::kComplete)
      result.push_back(one.doubts.empty() ? "" : one.doubts.front());
  return result;
}

// Blocks whose process shows that there are two senders, and segments without an offset.
constexpr std::string_view kLooped = R"(
    U air--start ::fm.hqpid.hqround
    U start--dec ::fm.hqpid.hqround
    U dec--retx ::fm.hqpid
    U retx--start ::hqpid.hqround
    U dec--done ::fm.hqpid.hqround
    U ant--rlc len::sn.buf
    U rlc--out len::sn
)";

// Two blocks of one process that wait for their second round, and get it.
std::string two_blocks(std::uint64_t us) {
  std::string events;
  const auto add = [&](std::uint64_t after_us, std::string_view what) {
    events += fmt::format("{} U {}\n", (us + after_us) * 1000, what);
  };
  for (const std::uint64_t block : {0, 1}) {
    add(50 * block, fmt::format("air--start {} 3 0", block));
    add(50 * block + 10, fmt::format("start--dec {} 3 0", block));
    add(50 * block + 20, fmt::format("dec--retx {} 3", block));
    add(50 * block + 30, "retx--start 3 1");
  }
  for (const std::uint64_t block : {0, 1}) {
    add(500 + 200 * block, fmt::format("start--dec {} 3 1", 10 + block));
    add(510 + 200 * block, fmt::format("dec--done {} 3 1", 10 + block));
  }
  return events;
}

constexpr std::string_view kPieces = R"(
  {0}100 U ant--rlc 60 5 1
  {0}200 U ant--rlc 50 5 2
  {0}300 U ant--rlc 40 5 3
  {0}400 U rlc--out 100 5
  {0}500 U ant--rlc 70 5 1
  {0}600 U rlc--out 120 5
  {0}700 U ant--rlc 70 6 1
  {0}800 U rlc--out 70 6
)";

std::string pieces(int us) {
  return fmt::format(fmt::runtime(kPieces), us);
}

TEST_CASE("pieces that do not add up are in doubt where processes show several senders") {
  World world(kLooped);
  world.events(two_blocks(5'000'000) + pieces(6'000'000));
  world.journeys();
  CHECK(world.totals().mixed_senders);
  auto told = doubts(world);
  REQUIRE(told.size() == 5);
  told.erase(told.begin(), told.begin() + 2);
  CHECK(told == Lines{"3 sender", "1 sender", ""});
}

TEST_CASE("a unit without pieces may have lost them to another sender, once there are several") {
  for (const bool several : {false, true}) {
    World world(kLooped);
    world.events((several ? two_blocks(5'000'000) : "") + "6000000000 U rlc--out 100 5\n");
    world.journeys();
    CHECK(world.seen().back().journey.outcome == Outcome::kCensored);
    CHECK(world.seen().back().doubts == (several ? Lines{"0 sender"} : Lines{}));
  }
}

TEST_CASE("with one sender, pieces that do not add up are believed") {
  World world(kLooped);
  world.events(pieces(6'000'000));
  world.journeys();
  CHECK_FALSE(world.totals().mixed_senders);
  CHECK(doubts(world) == Lines{"", "", ""});
}

TEST_CASE("events from the last second before several senders showed are in doubt as well") {
  World world(kLooped);
  world.events(pieces(4'000'000) + pieces(5'900'000) + two_blocks(6'500'000));
  world.journeys();
  auto told = doubts(world);
  REQUIRE(told.size() == 8);
  told.resize(6);
  CHECK(told == Lines{"", "", "", "3 sender", "1 sender", ""});
}

TEST_CASE("pieces whose key names the owner are not affected by others' processes") {
  auto named = std::string(kLooped);
  for (const std::string_view point : {"ant--rlc len:", "rlc--out len:"})
    named.insert(named.find(point) + point.size(), "rnti");
  World world(named);
  auto events = pieces(6'000'000);
  for (auto at = events.find(" U "); at != std::string::npos; at = events.find(" U ", at + 1)) {
    const auto length = events.find(' ', events.find("--", at) + 2) + 1;
    events.insert(events.find(' ', length) + 1, "17 ");
  }
  world.events(two_blocks(5'000'000) + events);
  world.journeys();
  CHECK(world.totals().mixed_senders);
  auto told = doubts(world);
  REQUIRE(told.size() == 5);
  told.erase(told.begin(), told.begin() + 2);
  CHECK(told == Lines{"", "", ""});
}

// Rounds come in without having been asked for. Padding is decoded and goes no further.
constexpr std::string_view kUnasked = R"(
    U air--dem ::fm.hqpid.hqround
    U dem--dec ::fm.hqpid.hqround
    U dec--demux len::fm.hqpid.hqround
    U demux--out len::fm.hqpid
)";

// Receptions, each with a slot, a process, a round, and a result: `-` it failed, `p` it was
// padding, `+` it was a packet.
class Air {
 public:
  explicit Air(std::uint64_t us) : us_(us) {}

  Air& hear(int process, int round, char fate) {
    us_ += 500;
    ++slot_;
    add(0, fmt::format("air--dem {} {} {}", slot_, process, round));
    add(1, fmt::format("dem--dec {} {} {}", slot_, process, round));
    if (fate == '-') return *this;
    add(2, fmt::format("dec--demux 90 {} {} {}", slot_, process, round));
    if (fate == '+') add(3, fmt::format("demux--out 80 {} {}", slot_, process));
    return *this;
  }
  const std::string& events() const { return events_; }

 private:
  void add(std::uint64_t after_us, std::string_view what) {
    events_ += fmt::format("{} U {}\n", (us_ + after_us) * 1000, what);
  }

  std::uint64_t us_;
  int slot_ = 0;
  std::string events_;
};

// Four rounds that go on with what another block had displaced.
Air mixed_air() {
  Air air(5'000'000);
  for (int process = 0; process < 4; ++process)
    air.hear(process, 0, '-').hear(process, 0, '+').hear(process, 1, '+');
  return air;
}

TEST_CASE("unrequested rounds: several senders show in rounds of displaced receptions") {
  World world(kUnasked);
  world.events(mixed_air().hear(7, 0, '-').hear(7, 0, '+').hear(7, 1, '+').events());
  const auto journeys = world.journeys();
  CHECK(world.totals().mixed_senders);
  // The last one certainly continues the block that waited: its process had no other.
  CHECK(std::ranges::any_of(journeys, [](const auto& journey) {
    return journey.starts_with("U complete 5006500000..") &&
           journey.contains("air--dem@5007500000=0");
  }));
  CHECK(doubts(world) == Lines{"", "0 sender", "", "0 sender", "", "0 sender", "", "", "", ""});
}

TEST_CASE("unrequested rounds: if two wait either is in doubt, and the other after it") {
  World world(kUnasked);
  world.events(
      mixed_air().hear(7, 0, '-').hear(7, 0, '-').hear(7, 1, '+').hear(7, 1, '+').events());
  const auto journeys = world.journeys();
  auto told = doubts(world);
  told.erase(told.begin(), told.begin() + 8);
  CHECK(told == Lines{"2 others air--dem@5006500000(13 7 0)s0#40", "2 sender"});
}

TEST_CASE("unrequested rounds: a unit that no last round fits is in doubt") {
  World world(kUnasked);
  world.events(mixed_air().hear(7, 0, '+').hear(7, 1, '+').events());
  world.journeys();
  CHECK(doubts(world).back() == "0 sender");
}

TEST_CASE("unrequested rounds: in one slot an equal reception displaces it") {
  World world(kUnasked);
  auto events = mixed_air().events();
  events += R"(
    6000000000 U air--dem 50 7 0
    6000001000 U dem--dec 50 7 0
    6000002000 U air--dem 50 7 0
    6000003000 U dem--dec 50 7 0
    6000004000 U dec--demux 90 50 7 0
    6000005000 U demux--out 80 50 7
    6008000000 U air--dem 51 7 1
    6008001000 U dem--dec 51 7 1
    6008002000 U dec--demux 90 51 7 1
    6008003000 U demux--out 80 51 7
  )";
  world.events(events);
  world.journeys();
  // Its course, and whether it failed, is not known any more.
  CHECK(doubts(world).back() == "1 sender");
}

TEST_CASE("rounds do not go on with padding, which was decoded, once that is known to go farther") {
  World world(kUnasked);
  Air air(5'000'000);
  for (int i = 0; i < 40; ++i) air.hear(i % 4, 0, '-').hear(i % 4, 1, 'p');
  world.events(air.hear(1, 0, 'p').hear(1, 1, '+').events());
  const auto journeys = world.journeys();
  CHECK(
      std::ranges::find(journeys,
                        "U complete 5041000000..5041003000: air--dem@5041000000 "
                        "dem--dec@5041001000<0 dec--demux@5041002000<1 demux--out@5041003000<2*") !=
      journeys.end());
  CHECK_FALSE(world.totals().mixed_senders);
}

// The process, the version and the new-data bit of two blocks are the same.
constexpr std::string_view kVersions = R"(
    U start--dec ::fm.hqpid.rv.ndi
    U dec--retx ::fm.hqpid
    U retx--start ::fmrtx.hqpid.rv.ndi
    U dec--done ::fm.hqpid.rv.ndi
)";

TEST_CASE(
    "a unit taken because it came just before, and the one left to the next, are both in doubt") {
  World world(kVersions);
  world.events(R"(
    100 U start--dec 1 3 0 1
    110 U dec--retx 1 3
    120 U retx--start 11 3 2 1
    200 U start--dec 2 3 0 1
    210 U dec--retx 2 3
    220 U retx--start 12 3 2 1
    230 U start--dec 11 3 2 1
    240 U dec--done 11 3 2 1
    300 U start--dec 12 3 2 1
    310 U dec--done 12 3 2 1
  )");
  world.journeys();
  CHECK(doubts(world) == Lines{"3 sender", "3 sender"});
  CHECK(world.totals().mixed_senders);
}

TEST_CASE("a unit that waits in vain beside the one that came just before casts no doubt on it") {
  World world(kVersions);
  world.events(R"(
    100 U start--dec 1 3 0 1
    110 U dec--retx 1 3
    120 U retx--start 11 3 2 1
    200 U start--dec 2 3 0 1
    210 U dec--retx 2 3
    220 U retx--start 12 3 2 1
    230 U start--dec 12 3 2 1
    240 U dec--done 12 3 2 1
  )");
  world.journeys();
  CHECK(doubts(world) == Lines{""});
  CHECK_FALSE(world.totals().mixed_senders);
}

}  // namespace
}  // namespace sojourn::journeys
