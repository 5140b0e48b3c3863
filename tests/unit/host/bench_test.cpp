// The way in which samples are taken. No time is asserted.
#include "userspace/host/bench.h"

#include <catch2/catch_test_macros.hpp>

namespace sojourn::host {
namespace {

struct Fixture {
  MachineRoots roots;
  Cpuid cpuid = Cpuid::of_this_machine();
  Placement placement{read_layout({}), false};
  HostProfile profile;
  Bench bench{Form::kBrief, placement, roots, cpuid, "/var/tmp", profile};
  Fixture() { bench.enter_group("group"); }
};

TEST_CASE("a batch is repeated until it is long enough, and the given cost is subtracted") {
  Fixture fixture;
  std::uint64_t largest = 0;
  const Measurement& one =
      fixture.bench.measure({"group.nothing", "nothing", "a method"},
                            [&](std::uint64_t times) {
                              largest = std::max(largest, times);
                              for (std::uint64_t turn = 0; turn < times; ++turn) keep(turn);
                            },
                            {.subtract_ns = 1e9, .divide_by = 2});
  CHECK(largest > 100);
  CHECK(one.is_measured());
  CHECK(one.measured.count >= 1);
  CHECK(one.measured.median < -0.4e9);  // less than nothing less a second, halved
  CHECK(one.group == "group");
  CHECK(fixture.bench.before("group.nothing") == one.measured.median);
}

TEST_CASE("a batch has no more repetitions than it may have") {
  Fixture fixture;
  std::uint64_t largest = 0;
  fixture.bench.measure({"a", "", ""},
                        [&](std::uint64_t times) { largest = std::max(largest, times); },
                        {.most_repetitions = 3});
  CHECK(largest == 3);
}

TEST_CASE("samples that never settle end, and are marked as unstable") {
  Fixture fixture;
  double next = 1;
  const Measurement& one =
      fixture.bench.measure_samples({"a", "", ""}, [&] { return next *= 1.5; }, true);
  CHECK(one.measured.count == effort_of(Form::kBrief).most);
  CHECK_FALSE(one.unstable.empty());
}

TEST_CASE("samples that are stable end as soon as there are enough") {
  Fixture fixture;
  const Measurement& one = fixture.bench.measure_samples({"a", "", ""}, [] { return 5.0; }, true);
  CHECK(one.measured.count == effort_of(Form::kBrief).fewest);
  CHECK(one.unstable.empty());
  CHECK(one.measured.stdev == 0);
}

TEST_CASE("a measurement that is left out has the reason") {
  Fixture fixture;
  fixture.bench.leave_out({"a", "name", ""}, "no such thing here");
  fixture.bench.add({"b", "name", ""}, {});
  REQUIRE(fixture.profile.measurements.size() == 2);
  CHECK(fixture.profile.measurements[0].left_out == "no such thing here");
  CHECK_FALSE(fixture.profile.measurements[0].is_measured());
  CHECK(fixture.profile.measurements[1].left_out == "no sample was taken");
  CHECK(fixture.profile.find("a") == nullptr);
}

}  // namespace
}  // namespace sojourn::host
