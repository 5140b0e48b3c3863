// The packets that are worth explaining, and those that are shown.
#include "analysis/live/worst_packets.h"

#include <catch2/catch_test_macros.hpp>

namespace sojourn::live {
namespace {

using model::Direction;

causes::Verdict verdict(std::uint64_t journey, std::uint64_t latency_ns) {
  causes::Verdict made;
  made.journey = journey;
  made.end_ns = latency_ns;
  return made;
}

TEST_CASE("only packets among the slowest of their second and direction are explained") {
  WorstPackets worst(2, 10);
  CHECK(worst.deadlines().down_ns == 0);
  worst.note(Direction::kDownlink, 100);
  CHECK(worst.deadlines().down_ns == 0);  // there is room for one more
  worst.note(Direction::kDownlink, 300);
  CHECK(worst.deadlines().down_ns == 100);
  worst.note(Direction::kDownlink, 200);
  CHECK(worst.deadlines().down_ns == 200);
  worst.note(Direction::kDownlink, 50);
  CHECK(worst.deadlines().down_ns == 200);
  CHECK(worst.deadlines().up_ns == 0);
  worst.advance(1);
  CHECK(worst.deadlines().down_ns == 0);  // a new second
}

TEST_CASE("the slowest of the window are shown, the slowest first, until they are too old") {
  WorstPackets worst(1, 2);
  worst.add(0, verdict(1, 900));
  worst.add(1, verdict(2, 500));
  worst.add(1, verdict(3, 700));
  worst.add(1, verdict(4, 600));  // two of a second are kept: one of each direction at least
  const auto first = worst.slowest(10);
  REQUIRE(first.size() == 3);
  CHECK(first[0].journey == 1);
  CHECK(first[1].journey == 3);
  CHECK(first[2].journey == 4);
  CHECK(worst.slowest(1).size() == 1);
  worst.advance(2);
  CHECK(worst.slowest(10).size() == 2);
  worst.advance(3);
  CHECK(worst.slowest(10).empty());
}

}  // namespace
}  // namespace sojourn::live
