// What differs between two machines, by one run each and by several.
#include "analysis/host/host_diff.h"

#include <array>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "tests/unit/host/profiles.h"

namespace sojourn::host {
namespace {

using Catch::Approx;

HostProfile with(std::vector<Measurement> measurements) {
  HostProfile profile;
  profile.measurements = std::move(measurements);
  return profile;
}

Difference difference(const HostDiff& diff, std::string_view id) {
  for (const MeasurementDiff& one : diff.measurements)
    if (one.id == id) return one.difference;
  FAIL("not compared");
  return Difference::kNone;
}

std::vector<HostProfile> runs_of(std::initializer_list<double> medians) {
  std::vector<HostProfile> runs;
  for (const double median : medians) runs.push_back(with({measured("a", median)}));
  return runs;
}

TEST_CASE("by one run each, what overlaps is no difference and what does not is apart") {
  const std::array left = {with({measured("same", 100), measured("other", 100)})};
  const std::array right = {with({measured("same", 104), measured("other", 120)})};
  const HostDiff diff = compare(left, right);
  CHECK(difference(diff, "same") == Difference::kNone);
  CHECK(difference(diff, "other") == Difference::kApart);
  CHECK(diff.measurements[1].change() == Approx(0.2));
}

TEST_CASE("nothing is said of samples that are not stable") {
  Measurement shaky = measured("a", 200);
  shaky.unstable = "it drifts";
  CHECK(difference(compare(std::array{with({measured("a", 100)})}, std::array{with({shaky})}),
                   "a") == Difference::kUnstable);
}

TEST_CASE("what only one side has is told") {
  Measurement absent = measured("b", 1);
  absent.measured = {};
  const HostDiff diff = compare(std::array{with({measured("a", 1), measured("b", 1)})},
                                std::array{with({measured("c", 1), absent})});
  CHECK(difference(diff, "a") == Difference::kOnlyLeft);
  CHECK(difference(diff, "b") == Difference::kOnlyLeft);
  CHECK(difference(diff, "c") == Difference::kOnlyRight);
}

TEST_CASE("with repeats it is the runs that are compared, whatever the spread within them") {
  const HostDiff apart = compare(runs_of({100, 101, 102, 103}), runs_of({104, 105, 106, 107}));
  CHECK(difference(apart, "a") == Difference::kChanged);
  CHECK(apart.measurements[0].p == Approx(2.0 / 70));
  CHECK(apart.measurements[0].left == Approx(101.5));
  const HostDiff mixed = compare(runs_of({100, 105, 102, 107}), runs_of({104, 101, 106, 103}));
  CHECK(difference(mixed, "a") == Difference::kNone);
}

TEST_CASE("three runs a side are too few to rule chance out") {
  const HostDiff diff = compare(runs_of({1, 2, 3}), runs_of({100, 200, 300}));
  CHECK(diff.measurements[0].p == Approx(0.1));
  CHECK(difference(diff, "a") == Difference::kNone);
}

TEST_CASE("the chance of a difference in rank is exact") {
  CHECK(rank_p(std::array{1.0}, std::array{2.0}) == Approx(1));
  CHECK(rank_p(std::array{1.0, 2.0}, std::array{3.0, 4.0}) == Approx(2.0 / 6));
  CHECK(rank_p(std::array{5.0, 5.0, 5.0}, std::array{5.0, 5.0, 5.0}) == Approx(1));
  CHECK(rank_p({}, std::array{1.0}) == 1);
  CHECK(rank_p(std::vector<double>(13, 1), std::vector<double>(13, 2)) == 1);  // too many to deal
}

TEST_CASE("what the machines say of themselves is compared as well") {
  HostProfile left;
  left.facts = {{"os.kernel", "kernel", "6.1", ""}, {"cpu.model", "processor", "A", ""}};
  HostProfile right;
  right.facts = {{"os.kernel", "kernel", "6.12", ""},
                 {"cpu.model", "processor", "A", ""},
                 {"net.eth0", "card", "1 Gbit/s", ""}};
  const HostDiff diff = compare(std::array{left}, std::array{right});
  REQUIRE(diff.facts.size() == 2);
  CHECK(diff.facts[0].right == "6.12");
  CHECK(diff.facts[1].id == "net.eth0");
  CHECK(diff.facts[1].left.empty());
}

}  // namespace
}  // namespace sojourn::host
