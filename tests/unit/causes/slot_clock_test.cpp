// Finds the thread that follows the slot clock, and the length of a slot.
#include "analysis/causes/slot_clock.h"

#include <catch2/catch_test_macros.hpp>

namespace sojourn::causes {
namespace {

TEST_CASE(
    "the thread that names new slots first is the slot clock, threads that repeat them are not") {
  SlotClock clock;
  for (std::uint64_t slot = 1; slot <= 50; ++slot) {
    clock.note(slot * 500, 1, slot);
    clock.note(slot * 500 + 10, 2, slot);
    clock.note(slot * 500 + 20, 2, slot - 1);
  }
  CHECK(clock.leads(1));
  CHECK_FALSE(clock.leads(2));
  CHECK(clock.slot_ns() == 500);
}

TEST_CASE("slots without a name are counted in") {
  SlotClock clock;
  for (std::uint64_t slot = 0; slot <= 100; slot += 5) clock.note(slot * 1000, 1, slot);
  CHECK(clock.slot_ns() == 1000);
}

TEST_CASE("a number that begins anew is no slot's length") {
  SlotClock clock;
  for (std::uint64_t at = 0; at < 100; ++at) clock.note(at * 1000, 1, (10'200 + at) % 10'240);
  CHECK(clock.slot_ns() == 1000);
  CHECK(clock.leads(1));
}

TEST_CASE("a few numbers say nothing") {
  SlotClock clock;
  for (std::uint64_t slot = 0; slot < 5; ++slot) clock.note(slot * 1000, 1, slot);
  CHECK_FALSE(clock.leads(1));
  CHECK(clock.slot_ns() == 0);
}

}  // namespace
}  // namespace sojourn::causes
