// The predictions, their inputs, and the reasons of deviations.
#include "analysis/host/predictions.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "tests/unit/host/profiles.h"

namespace sojourn::host {
namespace {

using Catch::Approx;

HostProfile predicted(std::vector<Measurement> measurements, bool is_virtual = false) {
  HostProfile profile;
  profile.measurements = std::move(measurements);
  profile.facts = {{"virtual", "virtual machine", is_virtual ? "KVM" : "no", ""}};
  predict(profile);
  return profile;
}

TEST_CASE("costs of a run are predicted from those below them in the same run") {
  const HostProfile profile =
      predicted({measured("clocks.cycle", 0.5), measured("clocks.rdtscp", 12),
                 measured("clocks.monotonic", 24), measured("calls.procedure7", 4)});
  const Measurement& clock = *profile.find("clocks.monotonic");
  CHECK(*clock.hardware == Approx(12));
  CHECK(*clock.software == Approx(10));
  CHECK(*clock.deviation() == Approx(24.0 / 22 - 1));
  CHECK(clock.reason.empty());
  CHECK(!clock.basis.empty());
  // Two cycles, a frame, six arguments in registers and one on the stack.
  CHECK(*profile.find("calls.procedure7")->predicted() == Approx(0.5 * (2 + 1 + 1.5 + 2)));
  CHECK(*predicted({measured("clocks.cycle", 0.5), measured("calls.procedure0", 4)})
             .find("calls.procedure0")
             ->predicted() == Approx(1.5));
}

TEST_CASE("a large deviation has a reason, and an unexplained one is marked") {
  const HostProfile slow =
      predicted({measured("clocks.cycle", 0.5), measured("clocks.monotonic", 900),
                 measured("calls.procedure0", 90)});
  CHECK(slow.find("clocks.monotonic")->reason == "the clock source is not the cycle counter");
  CHECK(slow.find("calls.procedure0")->reason == "not known");
  const HostProfile fast = predicted({measured("clocks.cycle", 0.5), measured("calls.syscall", 1)});
  CHECK(fast.find("calls.syscall")->reason == "the estimate is too high for this machine");
}

TEST_CASE("the clock source is a reason only where it is not the counter") {
  HostProfile profile;
  profile.measurements = {measured("clocks.cycle", 0.5), measured("clocks.monotonic", 900)};
  profile.facts = {{"clocksource", "clock source", "tsc", ""}};
  predict(profile);
  CHECK(profile.find("clocks.monotonic")->reason == "not known");
}

TEST_CASE("a virtual machine is a reason only where there is one") {
  const std::vector<Measurement> wakeups = {measured("clocks.cycle", 0.5),
                                            measured("probes.nop1", 90'000)};
  CHECK(predicted(wakeups, true).find("probes.nop1")->reason.contains("hypervisor"));
  CHECK(predicted(wakeups, false).find("probes.nop1")->reason == "not known");
}

TEST_CASE("an unstable measurement deviates for that reason") {
  Measurement shaky = measured("calls.syscall", 9000);
  shaky.unstable = "the middle half of the samples spreads by 80 %";
  const HostProfile profile = predicted({measured("clocks.cycle", 0.5), shaky});
  CHECK(profile.find("calls.syscall")->reason.starts_with("the samples are not stable"));
}

TEST_CASE("a larger bandwidth is better, and one that exceeds the estimate is explained") {
  Measurement read = measured("memory.read", 40e9, Unit::kBytesPerSecond);
  read.is_less_better = false;
  const HostProfile profile = predicted({measured("memory.latency.ram", 100), read});
  CHECK(*profile.find("memory.read")->predicted() == Approx(7.68e9));
  CHECK(profile.find("memory.read")->reason == "the prefetcher has more lines under way");
}

TEST_CASE("an operation without a rule is not predicted") {
  const HostProfile profile = predicted({measured("made.up", 5)});
  CHECK_FALSE(profile.find("made.up")->predicted());
  CHECK_FALSE(profile.find("made.up")->deviation());
}

}  // namespace
}  // namespace sojourn::host
