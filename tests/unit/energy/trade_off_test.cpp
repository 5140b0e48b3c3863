#include "analysis/energy/trade_off.h"

#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::energy {
namespace {

TEST_CASE("no run in the Pareto set is beaten in both figures") {
  const std::vector<Choice> choices = {
      {.joules = 1, .latency_ns = 9},             // the cheapest
      {.joules = 3, .latency_ns = 5},             // between
      {.joules = 8, .latency_ns = 2},             // the fastest
      {.joules = 4, .latency_ns = 5},             // as fast as one that takes less
      {.joules = 9, .latency_ns = 9},             // beaten in both
      {.joules = 3, .latency_ns = 5},             // as good as one that is in it
      {.joules = std::nullopt, .latency_ns = 1},  // not measured
      {.joules = 0.5, .latency_ns = std::nullopt}};
  CHECK(pareto_set(choices) ==
        std::vector<bool>{true, true, true, false, false, true, false, false});
  CHECK(pareto_set({}).empty());
}

}  // namespace
}  // namespace sojourn::energy
