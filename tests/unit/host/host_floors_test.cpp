// The minimum time of a stay.
#include "analysis/host/host_floors.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/host/profiles.h"

namespace sojourn::host {
namespace {

HostProfile with(std::vector<Measurement> measurements) {
  HostProfile profile;
  profile.measurements = std::move(measurements);
  return profile;
}

TEST_CASE("within a thread a stay takes as long as reading the clock, at least") {
  const auto floor = floor_of(with({measured("clocks.monotonic", 20)}), Handover::kSameThread);
  REQUIRE(floor.has_value());
  CHECK(floor->ns == 20);
  CHECK(floor->words == "reading the clock takes 20 ns here");
  const auto ring = floor_of(with({measured("clocks.monotonic", 20), measured("clocks.rdtsc", 9)}),
                             Handover::kSameThread);
  CHECK(ring->words == "reading the cycle counter takes 9 ns here");
}

TEST_CASE("to another thread it takes a wakeup, by whichever way is the faster one") {
  const HostProfile both = with({measured("cores.wakeup", 5000), measured("switches.futex", 1500)});
  CHECK(floor_of(both, Handover::kOtherThread)->ns == 1500);
  const HostProfile far = with({measured("cores.wakeup", 1200), measured("switches.futex", 1500)});
  CHECK(floor_of(far, Handover::kOtherThread)->words ==
        "waking a thread on another CPU takes 1.2 us here");
  const HostProfile one_cpu = with({measured("switches.futex", 1500)});
  CHECK(floor_of(one_cpu, Handover::kOtherThread)->ns == 1500);
}

TEST_CASE("a machine on which it was not measured has no floor") {
  CHECK_FALSE(floor_of({}, Handover::kSameThread));
  CHECK_FALSE(floor_of({}, Handover::kOtherThread));
}

TEST_CASE("an unstable measurement is no floor") {
  Measurement shaky = measured("cores.wakeup", 8e6);
  shaky.unstable = "only 2 samples of at least 8";
  CHECK_FALSE(floor_of(with({shaky}), Handover::kOtherThread));
  CHECK(floor_of(with({shaky, measured("switches.futex", 1500)}), Handover::kOtherThread)->ns ==
        1500);
}

TEST_CASE("up to half more than the floor is as fast as it gets") {
  const Floor floor{.ns = 1000, .words = {}};
  CHECK(is_as_fast_as_allowed(900, floor));
  CHECK(is_as_fast_as_allowed(1500, floor));
  CHECK_FALSE(is_as_fast_as_allowed(1501, floor));
  CHECK_FALSE(is_as_fast_as_allowed(0, Floor{}));
}

}  // namespace
}  // namespace sojourn::host
