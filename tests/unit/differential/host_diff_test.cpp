// The differences between two machines, by one run each and by several.
#include "analysis/differential/host_diff.h"

#include <array>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace sojourn::differential {
namespace {

using Catch::Approx;
using host::HostProfile;
using host::Measurement;

// A measurement whose middle half is a twentieth around the median.
Measurement of_median(const std::string& id, double median) {
  Measurement one;
  one.id = id;
  one.name = "name of " + id;
  one.measured = {.count = 40, .q1 = median * 0.975, .median = median, .q3 = median * 1.025};
  return one;
}

HostProfile with(std::vector<Measurement> measurements) {
  HostProfile profile;
  profile.measurements = std::move(measurements);
  return profile;
}

HostFinding finding(const HostDiff& diff, std::string_view id) {
  for (const MeasurementDiff& one : diff.measurements)
    if (one.id == id) return one.finding;
  FAIL("not compared");
  return HostFinding::kNone;
}

std::vector<HostProfile> runs_of(std::initializer_list<double> medians) {
  std::vector<HostProfile> runs;
  for (const double median : medians) runs.push_back(with({of_median("a", median)}));
  return runs;
}

TEST_CASE("with one run each, overlapping spreads are no difference, and separate ones are") {
  const std::array left = {with({of_median("same", 100), of_median("other", 100)})};
  const std::array right = {with({of_median("same", 104), of_median("other", 120)})};
  const HostDiff diff = compare_hosts(left, right);
  CHECK(finding(diff, "same") == HostFinding::kNone);
  CHECK(finding(diff, "other") == HostFinding::kApart);
  CHECK(diff.measurements[1].change() == Approx(0.2));
  CHECK(diff.tests == 0);
}

TEST_CASE("a single run with unstable samples gives no verdict") {
  Measurement shaky = of_median("a", 200);
  shaky.unstable = "it drifts";
  CHECK(finding(compare_hosts(std::array{with({of_median("a", 100)})}, std::array{with({shaky})}),
                "a") == HostFinding::kUnstable);
}

TEST_CASE("a measurement of only one machine is reported, and is no test") {
  Measurement absent = of_median("b", 1);
  absent.measured = {};
  const HostDiff diff = compare_hosts(std::array{with({of_median("a", 1), of_median("b", 1)})},
                                      std::array{with({of_median("c", 1), absent})});
  CHECK(finding(diff, "a") == HostFinding::kOnlyLeft);
  CHECK(finding(diff, "b") == HostFinding::kOnlyLeft);
  CHECK(finding(diff, "c") == HostFinding::kOnlyRight);
  CHECK(diff.tests == 0);
}

TEST_CASE("with repeats, runs are compared, whatever the spread within them") {
  const HostDiff apart =
      compare_hosts(runs_of({100, 101, 102, 103}), runs_of({104, 105, 106, 107}));
  CHECK(finding(apart, "a") == HostFinding::kChanged);
  CHECK(apart.measurements[0].p.value() == Approx(2.0 / 70));
  CHECK(apart.measurements[0].left == Approx(101.5));
  REQUIRE(apart.measurements[0].half);
  CHECK(*apart.measurements[0].half == Approx(2.234).margin(0.01));  // Welch, 6 degrees of freedom
  const HostDiff mixed =
      compare_hosts(runs_of({100, 105, 102, 107}), runs_of({104, 101, 106, 103}));
  CHECK(finding(mixed, "a") == HostFinding::kNone);
}

TEST_CASE("runs that all measure the same are no change") {
  const HostDiff diff = compare_hosts(runs_of({5, 5, 5, 5}), runs_of({5, 5, 5, 5}));
  CHECK(finding(diff, "a") == HostFinding::kNone);
  CHECK(diff.measurements[0].adjusted_p == Approx(1));
}

TEST_CASE("three runs a side are too few to rule chance out, and that is reported") {
  const HostDiff diff = compare_hosts(runs_of({1, 2, 3}), runs_of({100, 200, 300}));
  CHECK(diff.measurements[0].p.value() == Approx(0.1));
  CHECK(finding(diff, "a") == HostFinding::kTooLittle);
  CHECK(diff.runs_needed == 4);
}

TEST_CASE("thirty measurements of four runs each are too many tests for one of them to stand out") {
  std::vector<HostProfile> left(4);
  std::vector<HostProfile> right(4);
  for (int run = 0; run < 4; ++run)
    for (int id = 0; id < 30; ++id) {
      const std::string name = "m" + std::to_string(id);
      const double noise = (run * 7 + id * 3) % 11;
      left[static_cast<std::size_t>(run)].measurements.push_back(of_median(name, 100 + noise));
      right[static_cast<std::size_t>(run)].measurements.push_back(
          of_median(name, (id == 0 ? 900 : 100) + (run * 5 + id * 2) % 11));
    }
  const HostDiff diff = compare_hosts(left, right);
  CHECK(diff.tests == 30);
  CHECK(diff.measurements[0].p.value() == Approx(2.0 / 70));
  CHECK(diff.measurements[0].adjusted_p > kHostLevel);
  CHECK(finding(diff, "m0") == HostFinding::kTooLittle);
  CHECK(diff.runs_needed == 7);
}

TEST_CASE("the machines' descriptions are compared as well") {
  HostProfile left;
  left.facts = {{"os.kernel", "kernel", "6.1", ""}, {"cpu.model", "processor", "A", ""}};
  HostProfile right;
  right.facts = {{"os.kernel", "kernel", "6.12", ""},
                 {"cpu.model", "processor", "A", ""},
                 {"net.eth0", "card", "1 Gbit/s", ""}};
  const HostDiff diff = compare_hosts(std::array{left}, std::array{right});
  REQUIRE(diff.facts.size() == 2);
  CHECK(diff.facts[0].right == "6.12");
  CHECK(diff.facts[1].id == "net.eth0");
  CHECK(diff.facts[1].left.empty());
}

}  // namespace
}  // namespace sojourn::differential
