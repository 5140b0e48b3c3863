#include "userspace/capture/bpf/cost_of_runs.h"

#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::capture {
namespace {

TEST_CASE("runs that were disturbed do not make a hit more expensive") {
  // Five of eight: the CPU went to another thread, and the caches were cold afterwards.
  std::vector<std::uint64_t> runs = {28'000, 700, 4600, 12'000, 690, 4700, 710, 5100};
  const CostOfRuns cost = cost_of_runs(runs);
  CHECK(cost.ps == 710);
  CHECK(cost.spread > 5);  // and it is known to be unsure
}

TEST_CASE("a few runs that were not disturbed are enough") {
  std::vector<std::uint64_t> runs(448, 5600);
  for (std::size_t run = 0; run < 20; ++run) runs[run * 20] = 700;
  const CostOfRuns cost = cost_of_runs(runs);
  CHECK(cost.ps == 875);
  CHECK(cost.spread > 5);
}

TEST_CASE("the spread is that of the faster half") {
  std::vector<std::uint64_t> runs = {1000, 1100, 1010, 90'000, 1020, 1005, 1015, 1050};
  const CostOfRuns cost = cost_of_runs(runs);
  CHECK(cost.ps == 1010);
  CHECK(cost.spread == 10.0 / 1010.0);
}

TEST_CASE("a cost of a single run has no spread") {
  std::vector<std::uint64_t> runs = {640};
  CHECK(cost_of_runs(runs).ps == 640);
  CHECK(cost_of_runs(runs).spread == 0);
}

}  // namespace
}  // namespace sojourn::capture
