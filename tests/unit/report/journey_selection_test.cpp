#include "analysis/report/journey_selection.h"

#include <cstdint>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::report {
namespace {

struct Told {
  std::vector<std::uint64_t> ids;
  std::uint64_t at_one_point = 0;
  bool full = false;
};

journeys::Journey complete(std::uint64_t id, std::uint64_t latency_ns) {
  return {.id = id,
          .outcome = journeys::Outcome::kComplete,
          .start_ns = 100,
          .end_ns = 100 + latency_ns};
}

Told tell(JourneyWishes wishes, const std::vector<journeys::Journey>& all) {
  Told told;
  JourneySelection selection(
      std::move(wishes), [&](const journeys::Journey& journey) { told.ids.push_back(journey.id); });
  for (const auto& journey : all) selection.on_journey(journey);
  selection.finish();
  told.at_one_point = selection.at_one_point();
  told.full = selection.is_full();
  CHECK(selection.selected() == told.ids.size());
  return told;
}

using Ids = std::vector<std::uint64_t>;

TEST_CASE("the slowest come first, of equal ones the earlier, and those without latency count") {
  const auto told = tell({.worst = 3}, {complete(1, 5), complete(2, 9), complete(3, 9),
                                        complete(4, 0), complete(5, 7), complete(6, 1)});
  CHECK(told.ids == Ids{2, 3, 5});
  CHECK(told.at_one_point == 1);
  CHECK(tell({.limit = 2, .worst = 3}, {complete(1, 5), complete(2, 9), complete(3, 8)}).ids ==
        Ids{2, 3});
}

TEST_CASE("steps are wanted only of journeys that may be among the slowest") {
  JourneySelection selection({.worst = 2}, [](const journeys::Journey&) {});
  CHECK(selection.wants_steps_of(complete(1, 1)));
  CHECK_FALSE(selection.wants_steps_of(complete(1, 0)));
  for (const std::uint64_t latency_ns : {4, 6, 5})
    selection.on_journey(complete(latency_ns, latency_ns));
  CHECK_FALSE(selection.wants_steps_of(complete(7, 5)));
  CHECK(selection.wants_steps_of(complete(8, 6)));
}

TEST_CASE("journeys that were inside at the end come the oldest first") {
  journeys::Journey late = {.id = 1, .start_ns = 300, .inside_until_ns = 900};
  journeys::Journey early = {.id = 2, .start_ns = 200, .inside_until_ns = 900};
  CHECK(tell({.inside = true}, {late, complete(3, 5), early}).ids == Ids{2, 1});
}

TEST_CASE("a limit and a list of numbers end it") {
  const std::vector<journeys::Journey> all = {complete(1, 5), complete(2, 6), complete(3, 7)};
  CHECK(tell({.limit = 2}, all).ids == Ids{1, 2});
  CHECK(tell({.limit = 2}, all).full);
  CHECK(tell({.ids = {1, 3}}, all).ids == Ids{1, 3});
  CHECK_FALSE(tell({.ids = {1, 4}}, all).full);
  CHECK(tell({.direction = model::Direction::kUplink}, all).ids.empty());
  CHECK(tell({.keep = [](const journeys::Journey& journey) { return journey.id == 2; }}, all).ids ==
        Ids{2});
}

}  // namespace
}  // namespace sojourn::report
